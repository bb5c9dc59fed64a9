import Fastify from 'fastify'
import {
  type FastifyZodOpenApiTypeProvider,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-zod-openapi'
import * as client from '../src/api/client/schemas.ts'

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

export const clientValidate = {
  params: client.clientPlace,
  body: client.validateIn,
  response: { 200: client.validateOut },
}

/** As long as every signature is. */
export const signature = Buffer.alloc(64).toString('base64')
const kid = '0123456789abcdef'

/** What the ledger answers an app whose license is good: a lease, signed anew each time, and the settings. */
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
