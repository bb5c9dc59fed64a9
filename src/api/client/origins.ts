const exposed = [
  'Error-Code',
  'Request-Id',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-Service-Limit-Scope',
  'X-Service-Limit',
  'X-Service-Remaining',
].join(', ')

/** Lets pages of any origin read an answer of the client interface. */
export const forAnyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposed,
}

/** The headers of the answer to a preflight request, beside {@link forAnyOrigin}. */
export const preflight = {
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'Content-Type, X-Service-SDK-Key, If-None-Match',
  'access-control-max-age': '7200',
}
