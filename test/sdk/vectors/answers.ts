import { now } from './keys.ts'

type Answer = {
  name: string
  why: string
  status: number | null
  body?: unknown
  retryAfter?: string
  code: string
  more?: object
}

const refusals = [
  'not_found',
  'revoked',
  'suspended',
  'expired',
  'reminted',
  'inactive',
  'seat_lost',
  'assigned_to_another',
  'borrow_limit_reached',
  'plan_limit',
]

const wait = (name: string, why: string, retryAfter: string, retryAfterMs: number | undefined): Answer => ({
  name,
  why,
  status: 503,
  body: { error: 'busy' },
  retryAfter,
  code: 'unavailable',
  more: retryAfterMs === undefined ? {} : { retryAfterMs },
})

/** Answers without a lease, and the error that an app gets of each. */
export const answers = () => {
  const cases: Answer[] = [
    { name: 'no answer', why: 'no complete answer came in time', status: null, code: 'offline' },
    ...refusals.map((reason) => ({
      name: `422, ${reason}`,
      why: 'the license refuses, and its reason is the code',
      status: 422,
      body: { error: 'refused', reason },
      code: reason,
    })),
    {
      name: '404 of a license',
      why: 'the reason tells it from a wrong tenant or product',
      status: 404,
      body: { error: 'no such key', reason: 'not_found' },
      code: 'not_found',
    },
    {
      name: '402',
      why: 'the plan of the vendor',
      status: 402,
      body: { error: 'plan', reason: 'plan_limit' },
      code: 'plan_limit',
    },
    {
      name: '422 of a newer server',
      why: 'a reason that is not known',
      status: 422,
      body: { error: 'refused', reason: 'of_a_newer_server' },
      code: 'refused',
    },
    {
      name: '422 without a reason',
      why: 'the license refuses',
      status: 422,
      body: { error: 'refused' },
      code: 'refused',
    },
    {
      name: 'seats are taken',
      why: 'how many wait is handed on',
      status: 422,
      body: { error: 'full', reason: 'seat_limit_reached', waiting: 3, retry_after: 30 },
      code: 'seat_limit_reached',
      more: { waiting: 3, retryAfterMs: 30_000 },
    },
    {
      name: 'a build is not covered',
      why: 'what the server says of it is handed on',
      status: 200,
      body: { valid: false, error: 'older', reason: 'build_not_covered', updates_until: now },
      code: 'build_not_covered',
      more: { notCovered: { updatesUntil: now } },
    },
    {
      name: '401',
      why: 'the SDK key is wrong',
      status: 401,
      body: { error: 'unauthorized' },
      code: 'misconfigured',
    },
    {
      name: '404 without a reason',
      why: 'the tenant or the product is wrong',
      status: 404,
      body: { error: 'not found' },
      code: 'misconfigured',
    },
    {
      name: '400',
      why: 'the request is wrong',
      status: 400,
      body: { error: 'instance_name is missing' },
      code: 'misconfigured',
    },
    {
      name: '403',
      why: 'the tenant is suspended',
      status: 403,
      body: { error: 'suspended' },
      code: 'forbidden',
    },
    {
      name: '429',
      why: 'too many calls',
      status: 429,
      body: { error: 'slow down' },
      retryAfter: '7',
      code: 'rate_limited',
      more: { retryAfterMs: 7000 },
    },
    {
      name: '429 of a proxy',
      why: 'nothing is sent again before its time, whoever says it',
      status: 429,
      body: undefined,
      retryAfter: '60',
      code: 'rate_limited',
      more: { retryAfterMs: 60_000 },
    },
    ...[500, 502, 503, 504, 599].map((status) => ({
      name: String(status),
      why: 'the server does not work at the moment',
      status,
      body: undefined,
      code: 'unavailable',
    })),
    {
      name: 'a page with 200',
      why: 'the sign-in page of a network',
      status: 200,
      body: undefined,
      code: 'not_genuine',
    },
    {
      name: 'a redirect',
      why: 'the sign-in page of a network',
      status: 302,
      body: undefined,
      code: 'not_genuine',
    },
    {
      name: 'a page with 403',
      why: 'the block page of a proxy is no answer of the server',
      status: 403,
      body: undefined,
      code: 'not_genuine',
    },
    {
      name: 'a page with 404',
      why: 'the page of another server',
      status: 404,
      body: undefined,
      code: 'not_genuine',
    },
    {
      name: 'JSON of another server',
      why: 'its error is no text',
      status: 404,
      body: { error: { code: 404 } },
      code: 'not_genuine',
    },
    { name: 'a list', why: 'an answer is an object', status: 422, body: ['revoked'], code: 'not_genuine' },
    {
      name: 'a reason alone',
      why: 'every refusal has an error',
      status: 422,
      body: { reason: 'revoked' },
      code: 'not_genuine',
    },
    wait('Retry-After in seconds', 'as a number', '120', 120_000),
    wait('Retry-After of nothing', 'at once', '0', 0),
    wait(
      'Retry-After as a date',
      'as the protocol also allows',
      new Date((now + 90) * 1000).toUTCString(),
      90_000,
    ),
    wait('Retry-After in the past', 'at once', new Date((now - 90) * 1000).toUTCString(), 0),
    wait('Retry-After of a year', 'at most a day is waited', '31536000', 86_400_000),
    wait('Retry-After below zero', 'it is no number of seconds', '-1', undefined),
    wait('Retry-After with a fraction', 'it is no number of seconds', '1.5', undefined),
    wait('Retry-After of a word', 'it is neither', 'soon', undefined),
  ]
  return {
    now,
    cases: cases.map(({ body = null, more = {}, ...one }) => ({ ...one, body, ...more })),
  }
}
