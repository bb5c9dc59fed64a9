import { releaseFile } from '../../commands/devices/files.ts'
import { deactivateInstance } from '../../commands/devices/instances.ts'
import { readKey } from '../../credentials/license-key.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { requireFound } from './activate.ts'
import { clientIn, clientOriginOf } from './admit.ts'
import { answerPreflight } from './edge.ts'
import { noSuchLicense, refuse } from './refusals.ts'
import { activateRefusal, clientPlace, deactivateIn, deactivateOut, withLimits } from './schemas.ts'

const path = '/:tenantId/:productId/deactivate'

/** An app deactivates its device, which frees the seat. */
export function deactivateRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'findInstance' | 'keyHashing' | 'now' | 'usage'>,
): void {
  answerPreflight(app, path)
  app.post(
    path,
    {
      config: { client: 'deactivate', noDryRun: 'it is for an app that gives up its own seat' },
      schema: {
        operationId: 'deactivateInstance',
        tags: ['Client'],
        summary: 'Deactivate an instance; an instance without a seat gets the same response',
        description:
          'Call it when a person signs out or moves to another device. The instance has to activate again to be valid. A device with a ' +
          'license file sends its signed `release`.',
        params: clientPlace,
        body: deactivateIn,
        response: {
          200: answer('The instance has no seat', deactivateOut),
          ...errorsWith(activateRefusal, 404, 422),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request) => {
      const { license_key, instance_id: instanceId, fence = null, release } = request.body
      const client = clientIn(request)
      const { tenantId, productId } = client
      const key = readKey(license_key)
      if (key === undefined) throw noSuchLicense()
      const hashes = await ports.keyHashing.hashesOf(tenantId, key)
      const question = { tenantId, productId, ...hashes, instance: { instanceId } }
      const found = requireFound(await ports.findInstance(question))
      const [seat] = found.license.seats.values()
      if (!seat) throw notFound('instance')
      if (release !== undefined) {
        const { licenseId } = found.license
        await releaseFile(ports, { tenantId, licenseId, release }, clientOriginOf(request)).catch(refuse)
        return { deactivated: true as const }
      }
      const { deviceId } = seat
      const given = { deviceId, fence }
      await deactivateInstance(ports, found, given, question, clientOriginOf(request)).catch(refuse)
      ports.usage.count(tenantId, productId, 'deactivations')
      return { deactivated: true as const }
    },
  )
}
