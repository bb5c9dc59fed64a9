import { listLicensesOfPerson } from '../../../projections/licenses/of-person.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { Chosen } from '../../access/browser-activations.ts'
import { keyForApp } from '../../commands/licenses/key-for-app.ts'
import type { PortalContext } from '../context.ts'
import { personSeatsOf } from '../licenses/person-seats.ts'
import { type ShownLicense, shownLicense } from '../licenses/shown.ts'
import type { Customer } from '../visit.ts'

/** A license that a person may choose for an app, and whose key of it the app gets. */
export type Choice = { license: ShownLicense; chosen: Chosen }

/** More are not looked through; who has that many enters the key of one. */
const mostLicenses = 200

/**
 * The licenses of a person that the app can have: those of its product of which they are the holder, as with a key that is mailed, or have a
 * seat, and that have a key to give.
 */
export async function choicesFor(
  ports: PortalContext['ports'],
  product: PresentProduct,
  customer: Customer,
): Promise<Choice[]> {
  const person = { tenantId: product.tenantId, subjectId: customer.subjectId }
  const { entries } = await listLicensesOfPerson(ports.db, person, { after: undefined, limit: mostLicenses })
  const ofProduct = entries.filter(({ license }) => license.productId === product.productId)
  const found = await Promise.all(ofProduct.map((entry) => choiceOf(ports, product, entry, customer)))
  return found.filter((choice) => choice !== undefined)
}

async function choiceOf(
  ports: PortalContext['ports'],
  product: PresentProduct,
  entry: LicenseEntry,
  customer: Customer,
): Promise<Choice | undefined> {
  const { license } = entry
  const { licenseId } = license
  const seats = license.named && (await personSeatsOf(ports, license, customer, false))
  const chosen = { licenseId, subjectId: customer.subjectId, personId: seats?.own?.personId ?? null }
  const hasKey = (await keyForApp(ports, product, license, chosen)) !== undefined
  return hasKey ? { license: await shownLicense(ports, entry), chosen } : undefined
}
