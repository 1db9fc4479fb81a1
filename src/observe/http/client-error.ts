import { errorCode } from '../../lib/error-code.ts';

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** The answer to bytes that are no request, as Node gives it, and with the headers that all answers of a server have. */
export function clientErrorText(error: Error, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const status = STATUS_LINES[errorCode(error) ?? ''] ?? '400 Bad Request';
  return [`HTTP/1.1 ${status}`, 'Connection: close', ...lines, '', ''].join('\r\n');
}
