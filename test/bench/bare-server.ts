// The baselines: Fastify routes with the body schemas and responses of the two validates, and no work behind them.
import { validateIn, validateOut } from '../../src/api/runtime/schemas.ts'
import { clientValidate, createBareApp, goodAnswer, goodVerdict, signature } from './bare-app.ts'

const app = createBareApp()
app.post(
  '/v1/licenses/validate',
  { schema: { body: validateIn, response: { 200: validateOut } } },
  async ({ body }) => ({ valid: true, ...goodVerdict, device_id: body.device_id ?? null }),
)
app.post('/:tenantId/:productId/validate', { schema: clientValidate }, async ({ body }) =>
  goodAnswer(body.instance_id, signature),
)
process.stdout.write(`${JSON.stringify({ address: await app.listen({ port: 0, host: '127.0.0.1' }) })}\n`)
