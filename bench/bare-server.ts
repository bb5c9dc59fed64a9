// The baselines: bare Fastify routes with the body schemas and answers of the two validates, and nothing behind them.
import * as client from '../src/http/client/schemas.ts'
import { validateIn, validateOut } from '../src/http/runtime/schemas.ts'
import { createBareApp, goodVerdict } from './bare-app.ts'

const app = createBareApp()
app.post(
  '/v1/licenses/validate',
  { schema: { body: validateIn, response: { 200: validateOut } } },
  async ({ body }) => ({ valid: true, ...goodVerdict, device_id: body.device_id ?? null }),
)
const signature = Buffer.alloc(64).toString('base64')
const signed = { kid: '0123456789abcdef', signature }
app.post(
  '/:tenantId/:productId/validate',
  {
    schema: { params: client.clientPlace, body: client.validateIn, response: { 200: client.validateOut } },
  },
  async (request) => ({
    valid: true,
    license_expires_at: null,
    lease: {
      ...signed,
      licenseKeyHash: 'f'.repeat(64),
      instanceId: request.body.instance_id,
      issuedAt: 1_800_000_000,
      expiresAt: 1_800_604_800,
      status: 'active' as const,
      entitlements: ['export', 'sync'],
    },
    trial_duration_days: 14,
    free_tier_enabled: false,
    ...signed,
    issued_at: 1_800_000_000,
    expires_at: 1_800_086_400,
  }),
)
process.stdout.write(`${JSON.stringify({ address: await app.listen({ port: 0, host: '127.0.0.1' }) })}\n`)
