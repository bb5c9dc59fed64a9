import { z } from 'zod'
import { listDevices } from '../../../projections/licenses/queries.ts'
import { refuseUndo, type Undo, undo } from '../../commands/licenses/undo.ts'
import { momentOf } from '../../commands/origin.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import { quoted } from '../../domain/plain-text.ts'
import { text } from '../../domain/values.ts'
import { gatedOperation } from '../operation.ts'
import { aboutLicense, reasonGiven } from './about-license.ts'

const params = z.strictObject({ id: z.string() })

const reasonIn = z
  .strictObject({
    reason: text(500).optional().meta({ description: "Shown in the license's history" }),
  })
  .nullish()
  .meta({ example: { reason: 'revoked by mistake' } })

export const reinstateLicense = gatedOperation({
  name: 'license.reinstate',
  title: 'Reinstate a license',
  method: 'POST',
  path: '/v1/licenses/{id}/reinstate',
  scope: 'licenses:write',
  input: z.object({ params, body: reasonIn }),
  check: (ports, tenantId, { params: { id }, body }) => refuseUndo(ports, tenantId, id, reinstating(body)),
  async describe(ports, tenantId, { params: { id }, body }) {
    const { license, subject, revision } = await aboutLicense(ports, tenantId, id)
    const after = statusAt({ ...license, revokedAt: null }, momentOf(ports))
    return { summary: `Reinstate ${subject}`, details: reasonGiven(body?.reason), state: { revision, after } }
  },
  run: (ports, tenantId, { params: { id }, body }, { origin }) =>
    undo(ports, tenantId, id, reinstating(body), origin),
})

export const reseatDevice = gatedOperation({
  name: 'license.reseat-device',
  title: 'Reseat a device',
  method: 'POST',
  path: '/v1/licenses/{id}/reseat-device',
  scope: 'licenses:write',
  input: z.object({
    params,
    body: z
      .strictObject({
        deviceId: text(256).meta({ description: 'The id of the device, as listed with the license' }),
      })
      .meta({ example: { deviceId: 'machine-7f3a' } }),
  }),
  check: (ports, tenantId, { params: { id }, body }) => refuseUndo(ports, tenantId, id, reseating(body)),
  async describe(ports, tenantId, { params: { id }, body }) {
    const { subject, revision } = await aboutLicense(ports, tenantId, id)
    const seat = (await listDevices(ports.db, id)).find(({ deviceId }) => deviceId === body.deviceId)
    return {
      summary: `Reseat ${quoted(seat?.name ?? body.deviceId)} on ${subject}`,
      state: { revision, seat: seat?.status ?? null },
    }
  },
  run: (ports, tenantId, { params: { id }, body }, { origin }) =>
    undo(ports, tenantId, id, reseating(body), origin),
})

export const takeBackImport = gatedOperation({
  name: 'license.take-back-import',
  title: 'Take back an import',
  method: 'POST',
  path: '/v1/licenses/{id}/take-back-import',
  scope: 'licenses:write',
  input: z.object({ params, body: reasonIn }),
  check: (ports, tenantId, { params: { id }, body }) => refuseUndo(ports, tenantId, id, takingBack(body)),
  async describe(ports, tenantId, { params: { id }, body }) {
    const { subject, revision } = await aboutLicense(ports, tenantId, id)
    const summary = `Take back the import of ${subject}; it stays revoked until it is imported again`
    return { summary, details: reasonGiven(body?.reason), state: { revision } }
  },
  run: (ports, tenantId, { params: { id }, body }, { origin }) =>
    undo(ports, tenantId, id, takingBack(body), origin),
})

type Reason = z.infer<typeof reasonIn>

const reinstating = (body: Reason): Undo => ({ type: 'reinstate', reason: body?.reason ?? null })
const reseating = ({ deviceId }: { deviceId: string }): Undo => ({ type: 'reseat', deviceId })
const takingBack = (body: Reason): Undo => ({ type: 'take back', reason: body?.reason ?? null })
