import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Spans } from '../traces/spans.js'
import { readParent } from './traceparent.js'

type Followed = { method: string; path: string; operationId: string }

/** Follows a request, if the dice say so, until its response is over, however that comes about. */
export function follow(
  spans: Spans,
  { method, path, operationId }: Followed,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (!spans.begin(request, () => readParent(request.headers['traceparent']))) return
  response.once('close', () => {
    const { statusCode, writableFinished } = response
    spans.end(request, {
      name: `${method} ${path}`,
      attributes: {
        ...{ 'http.request.method': method, 'http.route': path, 'http.response.status_code': statusCode },
        'openearn.operation': operationId,
      },
      isFailed: statusCode >= 500 || !writableFinished,
    })
  })
}
