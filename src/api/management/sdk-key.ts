import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { revealSdkKey, rotateSdkKey } from '../../gate/operations/sdk-key.ts'
import type { ApprovalPorts } from '../../gate/ports.ts'
import { gatedRoute } from '../../http/gate.ts'
import { answer, errors } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'

const shown = z.object({
  sdkKey: z
    .string()
    .meta({ example: 'kl_sdk_4fT9…', description: 'The whole SDK key, which ships with your apps' }),
})

/** Explicitly not cached: caches store responses to GET by default. */
const sendKey = (sdkKey: string, { reply }: { reply: FastifyReply }) => reply.send({ sdkKey })

export function sdkKeyRoutes(app: ZodApp, ports: ApprovalPorts): void {
  gatedRoute(app, ports, revealSdkKey, {
    operationId: 'getSdkKey',
    tags: ['SDK key'],
    summary: 'Show the SDK key; creates the first one if there is none',
    description:
      'Apps send it in `X-Service-SDK-Key`. It identifies the tenant, and opens nothing but the client operations.',
    response: { 200: answer('The key', shown), ...errors(409) },
    reply: sendKey,
  })
  gatedRoute(app, ports, rotateSdkKey, {
    operationId: 'rotateSdkKey',
    tags: ['SDK key'],
    summary: 'Replace the SDK key; the previous one is rejected immediately',
    description:
      'Apps that ship with the previous key get 401 until they are updated; their leases stay valid to their end.',
    response: { 200: answer('The new key', shown), ...errors(409) },
    reply: sendKey,
  })
}
