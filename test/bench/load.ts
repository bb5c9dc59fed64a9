// The load in its own process: one line of JSON as its argument, one as its result.
import autocannon from 'autocannon'
import { z } from 'zod'
import { deviceId, instanceOf, keyOf, productId, sdkKeyOf, tenantId } from './fill.ts'

const Options = z.object({
  url: z.string(),
  token: z.string(),
  kind: z.enum(['validate', 'activate', 'mint', 'client-validate', 'client-activate']),
  /** The range of licenses, `to` excluded. */
  from: z.int(),
  to: z.int(),
  seconds: z.number().optional(),
  requests: z.int().optional(),
  connections: z.int(),
})

const options = Options.parse(JSON.parse(process.argv[2] ?? '{}'))
let next = 0
const nextLicense = () => {
  // Steps over the whole range, because neighbors share pages.
  next = (next + 7919) % (options.to - options.from)
  return options.from + next
}
const license = () => keyOf(nextLicense())
const said = { app_version: '1.4.2', platform: 'macos' }

const bodies = {
  mint: () => ({ productId }),
  validate: () => ({ product_id: productId, license_key: license(), device_id: deviceId }),
  activate: () => ({
    product_id: productId,
    license_key: license(),
    device_id: `device-${process.pid}-${next}`,
    name: 'Second',
  }),
  'client-validate': () => {
    const number = nextLicense()
    return { license_key: keyOf(number), instance_id: instanceOf(number), ...said }
  },
  'client-activate': () => ({
    license_key: license(),
    instance_name: `app-${process.pid}-${next}`,
    ...said,
  }),
} as const

const paths = {
  mint: '/v1/licenses',
  validate: '/v1/licenses/validate',
  activate: '/v1/licenses/activate',
  'client-validate': `/${tenantId}/${productId}/validate`,
  'client-activate': `/${tenantId}/${productId}/activate`,
} as const
const result = await autocannon({
  url: options.url + paths[options.kind],
  connections: options.connections,
  ...(options.requests === undefined ? { duration: options.seconds ?? 10 } : { amount: options.requests }),
  requests: [
    {
      method: 'POST',
      headers: {
        ...(options.kind.startsWith('client-')
          ? { 'x-service-sdk-key': sdkKeyOf(tenantId) }
          : { authorization: `Bearer ${options.token}` }),
        'content-type': 'application/json',
      },
      setupRequest: (request) => ({ ...request, body: JSON.stringify(bodies[options.kind]()) }),
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
