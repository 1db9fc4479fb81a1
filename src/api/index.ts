export { type Bookmark, decodeBookmark } from './bookmark.ts';
export { checkName, DNS_SUBDOMAIN, LABEL_VALUE } from './check-names.ts';
export * from './decode.ts';
export { type FieldPath, type FieldProblem, fieldProblem } from './field-problem.ts';
export { lookupIn, type ObjectLookup } from './object-lookup.ts';
export * from './objects.ts';
export * from './programmed-lease.ts';
export * from './protobuf/index.ts';
export { isOlderVersion, newestVersion, reachesVersion } from './resource-version.ts';
