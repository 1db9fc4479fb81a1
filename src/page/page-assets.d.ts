/** The build makes this module from `app/`: see scripts/page-assets.mjs. */
declare module 'pointsman:page-assets' {
  /** A file of the page, compressed. */
  export interface Asset {
    /** `/app.js` */
    readonly path: string;
    /** The content type. */
    readonly type: string;
    readonly etag: string;
    /** In base64. */
    readonly gzip: string;
    readonly brotli: string;
  }
  export const ASSETS: readonly Asset[];
}
