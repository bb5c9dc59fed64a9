import { z } from 'zod'
import { remintLicense, removeDevice } from '../../../commands/licenses/changes.ts'
import type { LicensePorts } from '../../../commands/licenses/licenses.ts'
import { sendKey as sendKeptKey } from '../../../commands/licenses/send-key.ts'
import { momentOf } from '../../../commands/origin.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { licenseOut, licenseView } from '../../../http/licenses/license.ts'
import { answer, errors, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { requireLicenseId } from './licenses.ts'
import { remintedOut, sendKey } from './schemas.ts'

const oneLicense = z.strictObject({ id: z.string() })

const reason = text(500).optional().meta({ description: "Shown in the license's history" })

const remintIn = z
  .strictObject({
    keepDevices: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether the devices keep their seats; otherwise all seats are freed' }),
    sendKey,
    reason,
  })
  .nullish()

export function licenseChangeRoutes(app: ZodApp, ports: LicensePorts & Ports<'mailing' | 'usage'>): void {
  remintRoute(app, ports)
  sendKeyRoute(app, ports)
  deactivateDeviceRoute(app, ports)
}

function remintRoute(app: ZodApp, ports: LicensePorts): void {
  app.post(
    '/v1/licenses/:id/remint',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'remintLicense',
        tags: ['Licenses'],
        summary: 'Remint a license; its new key is shown only in this response',
        description: 'The old key then gets `reminted` on runtime calls. A revoked license gets 409.',
        params: oneLicense,
        body: remintIn,
        response: {
          200: answer('The license and its new key', remintedOut, { license: { seatsUsed: 0 } }),
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const own = runPorts(request, ports)
      const input = {
        tenantId,
        licenseId: requireLicenseId(request.params.id),
        keepDevices: request.body?.keepDevices ?? false,
        sendKey: request.body?.sendKey,
        reason: request.body?.reason,
      }
      const { licenseKey, ...entry } = await remintLicense(own, input, runOriginOf(request))
      const [person] = await ports.subjects.openPeople(tenantId, [entry.license.holder])
      const license = licenseView(entry, person ?? { email: null, name: null }, momentOf(own))
      return { license, licenseKey }
    },
  )
}

const sendKeyIn = z
  .strictObject({ reason })
  .nullish()
  .meta({ example: { reason: 'the customer lost the mail' } })

function sendKeyRoute(app: ZodApp, ports: LicensePorts & Ports<'mailing'>): void {
  app.post(
    '/v1/licenses/:id/send-key',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'sendLicenseKey',
        tags: ['Licenses'],
        summary: 'Mail the kept key of a license to its holder again',
        description:
          'The product must have `keyRecovery`, and must have had it when the key was issued. The key is in no answer. A license is ' +
          'mailed at most once in five minutes. Where its key cannot be mailed, the answer is 409 and says what to do: a new key ' +
          'can be mailed with `sendKey` of remint.',
        params: oneLicense,
        body: sendKeyIn,
        response: {
          200: answer('The license; the mail is on its way', z.object({ license: licenseOut })),
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const input = {
        tenantId,
        licenseId: requireLicenseId(request.params.id),
        reason: request.body?.reason ?? null,
      }
      // With the present time also for a repeated request: after a 429 it may be sent again with its key.
      const entry = await sendKeptKey(ports, input, runOriginOf(request))
      const [person] = await ports.subjects.openPeople(tenantId, [entry.license.holder])
      return { license: licenseView(entry, person ?? { email: null, name: null }, momentOf(ports)) }
    },
  )
}

const deviceIn = z
  .strictObject({
    deviceId: text(256).optional().meta({ description: 'The id that was passed to activate' }),
    instanceId: text(256).optional().meta({ description: 'The instance id that activate returned' }),
    reason,
  })
  .refine(
    ({ deviceId, instanceId }) => (deviceId === undefined) !== (instanceId === undefined),
    'send either deviceId or instanceId',
  )
  .meta({ example: { deviceId: 'machine-7f3a' } })

function deactivateDeviceRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes' | 'usage'>,
): void {
  app.post(
    '/v1/licenses/:id/deactivate-device',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'deactivateDeviceOfLicense',
        tags: ['Licenses'],
        summary: 'Deactivate a device; repeating it gets the same response',
        description:
          'Frees the seat of a device that its owner no longer has. The device may activate again while a seat is free. A device with a ' +
          'license file keeps its seat until the file ends. Name it by `deviceId` or by `instanceId`, not by both.',
        params: oneLicense,
        body: deviceIn,
        response: {
          200: answer(
            'The device has no seat',
            z.object({ deactivated: z.literal(true).meta({ description: 'Always true: it has no seat' }) }),
          ),
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { deviceId, instanceId = '', reason: why } = request.body
      const input = {
        tenantId,
        licenseId: requireLicenseId(request.params.id),
        device: deviceId === undefined ? { instanceId } : { deviceId },
        reason: why,
      }
      const own = runPorts(request, ports)
      const { productId } = await removeDevice(own, input, runOriginOf(request))
      ports.usage.count(tenantId, productId, 'deactivations')
      return { deactivated: true as const }
    },
  )
}
