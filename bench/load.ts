// The load, in a process of its own: asked by one line of JSON as its argument, answers with one.
import autocannon from 'autocannon'
import { z } from 'zod'
import { deviceId, keyOf, productId } from './fill.ts'

const Asked = z.object({
  url: z.string(),
  token: z.string(),
  kind: z.enum(['validate', 'activate', 'mint']),
  /** Licenses to ask about, from the first to before the last. */
  from: z.int(),
  to: z.int(),
  seconds: z.number().optional(),
  requests: z.int().optional(),
  connections: z.int(),
})

const asked = Asked.parse(JSON.parse(process.argv[2] ?? '{}'))
let next = 0
const license = () => {
  // Over the whole range, far apart: neighbours would share pages.
  next = (next + 7919) % (asked.to - asked.from)
  return keyOf(asked.from + next)
}

const bodies = {
  mint: () => ({ productId }),
  validate: () => ({ product_id: productId, license_key: license(), device_id: deviceId }),
  activate: () => ({
    product_id: productId,
    license_key: license(),
    device_id: `device-${process.pid}-${next}`,
    name: 'Second',
  }),
} as const

const path = asked.kind === 'mint' ? '/v1/licenses' : `/v1/licenses/${asked.kind}`
const result = await autocannon({
  url: asked.url + path,
  connections: asked.connections,
  ...(asked.requests === undefined ? { duration: asked.seconds ?? 10 } : { amount: asked.requests }),
  requests: [
    {
      method: 'POST',
      headers: { authorization: `Bearer ${asked.token}`, 'content-type': 'application/json' },
      setupRequest: (request) => ({ ...request, body: JSON.stringify(bodies[asked.kind]()) }),
    },
  ],
})

const answered = result['2xx']
const lasted = result.duration
process.stdout.write(
  `${JSON.stringify({
    perSecond: answered / lasted,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.non2xx + result.errors,
    answered,
  })}\n`,
)
