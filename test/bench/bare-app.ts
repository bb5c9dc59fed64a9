import Fastify from 'fastify'
import {
  type FastifyZodOpenApiTypeProvider,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-zod-openapi'
import * as client from '../../src/api/client/schemas.ts'

/** The ledger's body validation and response serialization, and nothing else of it. */
export function createBareApp() {
  const app = Fastify().withTypeProvider<FastifyZodOpenApiTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  return app
}

/** The ledger's response for a valid license, without the device. */
export const goodVerdict = {
  status: 'active' as const,
  expires_at: null,
  entitlements: ['export', 'sync'],
  revalidate_after: 1_800_000_000,
}

export const clientValidate = {
  params: client.clientPlace,
  body: client.validateIn,
  response: { 200: client.validateOut },
}

/** As long as a real signature. */
export const signature = Buffer.alloc(64).toString('base64')
const kid = '0123456789abcdef'

/** The ledger's response to an app with a valid license: a lease, signed each time, and the settings. */
export const goodAnswer = (instanceId: string, ofLease: string) => ({
  valid: true,
  license_expires_at: null,
  lease: {
    kid,
    signature: ofLease,
    licenseKeyHash: 'f'.repeat(64),
    instanceId,
    issuedAt: 1_800_000_000,
    expiresAt: 1_800_604_800,
    status: 'active' as const,
    entitlements: ['export', 'sync'],
  },
  trial_duration_days: 14,
  free_tier_enabled: false,
  kid,
  signature,
  issued_at: 1_800_000_000,
  expires_at: 1_800_086_400,
})
