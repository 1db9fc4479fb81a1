import { errorAnswer, inspectionHandler, objectAnswer, type Route } from '../inspect/index.ts';
import { type HttpAnswer, type HttpHandler, type HttpRequest, NOT_FOUND } from '../observe/http/index.ts';
import { answerAsset, isFile } from './assets.ts';
import { PAGE_SCHEMA, type PageAction, type PageInfo } from './info.ts';

export interface PageHandlerOptions {
  /** Answers all paths below `/v1` that are not among `routes`. */
  readonly api: HttpHandler;
  readonly info: PageInfo;
  /** The flag that allows actions, for the texts of refusals: `--page-allow`. */
  readonly allowFlag: string;
  /** Paths below `/v1` that only the page has. */
  readonly routes?: readonly Route[] | undefined;
}

/** The operator's page: its files, and the inspection API that they ask. It changes nothing. */
export function pageHandler(options: PageHandlerOptions): HttpHandler {
  const own = [pageRoute(options.info), ...(options.routes ?? [])];
  const ownPaths = new Set(own.map(({ path }) => path));
  const answerOwn = inspectionHandler({ routes: own });
  return request => {
    const { path, method } = request;
    if (method !== 'GET' && method !== 'HEAD')
      return errorAnswer(405, 'use GET: the page only reads', { Allow: 'GET, HEAD' });
    if (isFile(path)) return answerAsset(request) ?? NOT_FOUND;
    const refused = refusal(request, options);
    if (refused) return refused;
    // The inspection API knows only GET. The server sends no body in the answer to HEAD.
    const question = { ...request, method: 'GET' };
    return ownPaths.has(path) ? answerOwn(question) : options.api(question);
  };
}

function pageRoute(info: PageInfo): Route {
  return {
    path: '/v1/page',
    about: 'what the page may do where it is served',
    answer: () => objectAnswer(PAGE_SCHEMA, info),
  };
}

function refusal(request: HttpRequest, { info, allowFlag }: PageHandlerOptions): HttpAnswer | undefined {
  const actions = actionsOf(request);
  const refused = actions.find(action => !info.allows.includes(action));
  if (refused === undefined) return undefined;
  return errorAnswer(
    403,
    `the page may not ${refused} here: start the program that serves it with ${allowFlag}=${actions.join()}`,
  );
}

/** What a request does besides reading. */
function actionsOf({ path, query }: HttpRequest): readonly PageAction[] {
  // Several values are refused later. None of them may pass here.
  const has = (name: string) => query.getAll(name).some(value => value !== 'false');
  if (path === '/v1/trace') return has('send') ? ['probe', 'trace'] : ['trace'];
  return path === '/v1/explain' && has('probe') ? ['probe'] : [];
}
