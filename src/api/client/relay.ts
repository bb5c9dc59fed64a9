import { z } from 'zod'
import { certifyRelay, releaseRelay } from '../../commands/devices/relays.ts'
import { readKey } from '../../credentials/license-key.ts'
import { Refusal } from '../../domain/refusal.ts'
import { relayAnswer, relayRelease, relayReleased, relayRequest } from '../../http/licenses/relays.ts'
import { Problem } from '../../http/problem.ts'
import { answer, errorBody, errorsWith, keyText } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { relayBodyLimit } from '../../signing/relay-bounds.ts'
import { reasonOfRefusal } from '../../verdicts/refused.ts'
import { requireFound } from './activate.ts'
import { clientIn, clientOriginOf } from './admit.ts'
import type { Client } from './client.ts'
import { answerPreflight } from './edge.ts'
import type { ClientPorts } from './ports.ts'
import { noSuchLicense, refuse } from './refusals.ts'
import { activateRefusal, clientPlace, withLimits } from './schemas.ts'

const path = '/:tenantId/:productId/relay'

/** A relay that reaches the server is enrolled, renewed and released by itself, as over the management interface by files. */
export function relayRoutes(app: ZodApp, ports: ClientPorts): void {
  certifyRoute(app, ports)
  releaseRoute(app, ports)
}

function certifyRoute(app: ZodApp, ports: ClientPorts): void {
  answerPreflight(app, path)
  app.post(
    path,
    {
      bodyLimit: relayBodyLimit,
      config: {
        client: 'relay',
        refusedWhileSuspended: true,
        noDryRun: 'a rehearsal would sign a certificate with which a relay gives out seats',
      },
      schema: {
        operationId: 'certifyClientRelay',
        tags: ['Client'],
        summary:
          'Enroll a relay, which takes its seats, or renew it; the same request gets the same certificate',
        description:
          'Called by a relay that reaches this server. It may go on without renewal for as long as the key type allows.',
        params: clientPlace,
        body: z.object({ license_key: keyText, request: relayRequest }),
        response: {
          200: answer('What the relay needs to give out seats by itself', relayAnswer),
          ...errorsWith(activateRefusal, 404, 409, 422),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request) => {
      const client = clientIn(request)
      const { license_key, request: text } = request.body
      const licenseId = await licenseOf(ports, client, license_key)
      const asked = { tenantId: client.tenantId, licenseId, request: text }
      const made = certifyRelay(ports, asked, clientOriginOf(request))
      const { answer } = await made.catch(refuseRelay)
      return answer
    },
  )
}

function releaseRoute(app: ZodApp, ports: ClientPorts): void {
  answerPreflight(app, `${path}/release`)
  app.post(
    `${path}/release`,
    {
      bodyLimit: relayBodyLimit,
      config: { client: 'relay', noDryRun: 'it is for a relay that has stopped' },
      schema: {
        operationId: 'releaseClientRelay',
        tags: ['Client'],
        summary: 'Give the seats of a relay back; repeating it gets the same response',
        description: 'Called by a relay that stops for good.',
        params: clientPlace,
        body: z.object({ license_key: keyText, release: relayRelease }),
        response: {
          200: answer('The relay has no seats', relayReleased),
          ...errorsWith(activateRefusal, 404, 409, 422),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request) => {
      const client = clientIn(request)
      const { license_key, release } = request.body
      const licenseId = await licenseOf(ports, client, license_key)
      const given = { tenantId: client.tenantId, licenseId, release }
      await releaseRelay(ports, given, clientOriginOf(request)).catch(refuse)
      return { released: true as const }
    },
  )
}

/** @throws Problem as {@link requireFound}, 404 for a text that is no key */
async function licenseOf(
  ports: Ports<'findInstance' | 'keyHashing'>,
  { tenantId, productId }: Client,
  licenseKey: string,
): Promise<string> {
  const key = readKey(licenseKey)
  if (key === undefined) throw noSuchLicense()
  const hashes = await ports.keyHashing.hashesOf(tenantId, key)
  // A relay has no seat of its own.
  const question = { tenantId, productId, ...hashes, instance: { instanceId: '' } }
  return requireFound(await ports.findInstance(question)).license.licenseId
}

/** @throws Problem for a refusal in the client contract; rethrows every other error */
function refuseRelay(error: unknown): never {
  if (!(error instanceof Refusal) || error.code !== 'seat_limit_reached') return refuse(error)
  const message = 'fewer seats are free than the relay asks for; ask for fewer, or free some first'
  const reason = reasonOfRefusal(error.code)
  throw new Problem(422, 'invalid_request', message, {}, reason ? { reason } : {}, error.code)
}
