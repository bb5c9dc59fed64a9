import type { FastifyInstance } from 'fastify'
import { requireLicense } from '../../commands/licenses/licenses.ts'
import { metersOfLicenses } from '../../commands/meters/owners.ts'
import { isId } from '../../credentials/id.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { type HeldRole, may } from '../../domain/members/roles.ts'
import { html } from '../../html.ts'
import { notFound } from '../../http/problem.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import type { AboutLicense, LicenseFacts } from './change.ts'
import { licenseChanges } from './changes.ts'
import { meterChanges } from './meters.ts'
import { type AboutRequest, changePages } from './pages.ts'

/** The changes that a role may make to a license in its state. */
export const changesFor = (
  role: HeldRole,
  license: IssuedLicense,
  known: LicenseFacts,
): { name: string; label: string }[] =>
  may(role, 'change_licenses')
    ? licenseChanges
        .filter(({ fits }) => fits(license, known))
        .map(({ name, label }) => ({ name, label: typeof label === 'string' ? label : label(license) }))
    : []

/** Changes of a license and of its meters. */
export function licenseChangePages(app: FastifyInstance, context: PageContext): void {
  const { ports } = context
  const find = async (request: AboutRequest): Promise<AboutLicense> => {
    const { id } = request.params
    const { tenantId } = principalOf(request)
    if (!isId('lic', id)) throw notFound('license')
    const { license } = await requireLicense(ports, tenantId, id)
    const product = await ports.findProduct(tenantId, license.productId)
    const [person = unknownPerson] = await ports.subjects.openPeople(tenantId, [license.holder])
    return {
      tenantId,
      id,
      path: `/dashboard/licenses/${id}`,
      named: html`<span class="mono">${license.displayKey}</span>${person.email && html`, ${person.email}`}`,
      owned: metersOfLicenses,
      meters: await metersOfLicenses.own(ports, tenantId, id),
      license,
      person,
      keyTypes: product?.keyTypes ?? [],
    }
  }
  changePages(app, context, { kind: 'license', changes: [...licenseChanges, ...meterChanges], find })
}
