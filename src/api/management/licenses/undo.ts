import { z } from 'zod'
import type { LicenseEntry } from '../../../../projections/licenses/queries.ts'
import { momentOf } from '../../../commands/origin.ts'
import { reinstateLicense, reseatDevice, takeBackImport } from '../../../gate/operations/undo.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { licenseOut, licenseView } from '../../../http/licenses/license.ts'
import { answer, errors } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'

/** One for each route, because an object that several share is described for the first of them only. */
const license = (example?: object) => answer('The license', z.object({ license: licenseOut }), example)

const undone = {
  license: {
    status: 'revoked',
    source: 'import',
    saleId: null,
    seatsUsed: 0,
    entitlements: [],
    revokedAt: '2026-11-24T14:05:12.000Z',
  },
}

/** Operations that undo a change of a license: each appends a new event, and each needs a person's approval. */
export function licenseUndoRoutes(app: ZodApp, ports: ApprovalPorts & Ports<'usage'>): void {
  const reply = async (entry: LicenseEntry) => {
    const { tenantId, holder } = entry.license
    const [person = { email: null, name: null }] = await ports.subjects.openPeople(tenantId, [holder])
    return { license: licenseView(entry, person, momentOf(ports)) }
  }
  gatedRoute(app, ports, reinstateLicense, {
    operationId: 'reinstateLicense',
    tags: ['Licenses'],
    summary: 'Reinstate a revoked license',
    description: 'Refused if the payment was refunded or lost in a dispute, or if the key type was deleted.',
    refusedWhileSuspended: true,
    response: { 200: license(), ...errors(404, 409) },
    reply,
  })
  gatedRoute(app, ports, reseatDevice, {
    operationId: 'reseatDevice',
    tags: ['Licenses'],
    summary: 'Give a deactivated device its seat back, with the name that it had',
    refusedWhileSuspended: true,
    response: { 200: license(), ...errors(402, 404, 409) },
    reply: async (entry) => {
      ports.usage.count(entry.license.tenantId, entry.license.productId, 'activations')
      return reply(entry)
    },
  })
  gatedRoute(app, ports, takeBackImport, {
    operationId: 'takeBackImport',
    tags: ['Licenses'],
    summary: 'Take back the import of an unused license',
    description:
      'The license is revoked, its devices lose their seats, and its key can be imported again as another license; this one stays ' +
      'with its history. Refused if the license was activated, reminted, linked or renewed.',
    response: { 200: license(undone), ...errors(404, 409) },
    reply,
  })
}
