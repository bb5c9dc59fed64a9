import Fastify from 'fastify'
import {
  type FastifyZodOpenApiTypeProvider,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-zod-openapi'

/** What the ledger checks bodies and writes answers with, and nothing else of it. */
export function createBareApp() {
  const app = Fastify().withTypeProvider<FastifyZodOpenApiTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  return app
}

/** What the ledger answers about a license that is good, beside the device. */
export const goodVerdict = {
  status: 'active' as const,
  expires_at: null,
  entitlements: ['export', 'sync'],
  revalidate_after: 1_800_000_000,
}
