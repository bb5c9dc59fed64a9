// The baseline: a bare Fastify route with validate's body schema and answer, and nothing behind it.
import Fastify from 'fastify'
import {
  type FastifyZodOpenApiTypeProvider,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-zod-openapi'
import { validateIn, validateOut } from '../src/http/runtime/schemas.ts'

const app = Fastify().withTypeProvider<FastifyZodOpenApiTypeProvider>()
app.setValidatorCompiler(validatorCompiler)
app.setSerializerCompiler(serializerCompiler)
app.post(
  '/v1/licenses/validate',
  { schema: { body: validateIn, response: { 200: validateOut } } },
  async (request) => ({
    valid: true,
    status: 'active' as const,
    expires_at: null,
    entitlements: ['export', 'sync'],
    device_id: request.body.device_id ?? null,
    revalidate_after: 1_800_000_000,
  }),
)
process.stdout.write(`${JSON.stringify({ address: await app.listen({ port: 0, host: '127.0.0.1' }) })}\n`)
