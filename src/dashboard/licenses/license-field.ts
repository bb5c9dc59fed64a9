import type { FastifyRequest } from 'fastify'
import { isId } from '../../credentials/id.ts'
import { isOwnKey } from '../../credentials/license-key.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { hasToBeUnlinked } from '../../domain/licenses/link.ts'
import { type Html, html } from '../../html.ts'
import type { Ports } from '../../ports.ts'
import { search } from '../../search/search.ts'
import type { Choice, FilledForm } from '../forms/filled-form.ts'
import { pickedField, pickedIn, withChoices, withPicked } from '../forms/picked-field.ts'
import { noteSearch } from '../search/note.ts'
import { principalOf } from '../session/principal.ts'

const name = 'licenseId'

/** Longer than every key and every email address. */
export const maxLicenseText = 500

/** A field in which a member picks a license by what the search finds it by. */
export const licenseField = (form: FilledForm): Html =>
  pickedField(form, {
    name,
    label: 'License',
    hint: html`Key or its ending, email address or name, at least three characters of them, order number, or ID <code>lic_…</code>`,
    maxlength: maxLicenseText,
    legend: 'Licenses that match and can be linked',
  })

type Chosen = { licenseId: string; filled: FilledForm } | { unclear: FilledForm }

/**
 * The license that a member has named in a {@link licenseField}; `unclear` is the form to show when it is not exactly one. Of several,
 * those are offered that can be linked.
 */
export async function chosenLicense(
  ports: Parameters<typeof search>[0] & Ports<'execute' | 'newId'>,
  request: FastifyRequest,
  filled: FilledForm,
): Promise<Chosen> {
  const text = pickedIn(filled, name)
  const { tenantId } = principalOf(request)
  const found = await search(ports, tenantId, text)
  if (!isId('lic', text)) await noteSearch(ports, request, found)
  const licenses = found.licenses.map(({ license }) => license)
  const [one, ...others] = licenses
  if (one && others.length === 0 && !found.more)
    return { licenseId: one.licenseId, filled: withPicked(filled, name, one.licenseId) }
  const free = licenses.filter((license) => !hasToBeUnlinked(license))
  const problem = notOneLicense({ found: licenses.length, free: free.length, more: found.more })
  // A license key is never shown again.
  const shown = isOwnKey(text) ? withPicked(filled, name, '') : filled
  return { unclear: withChoices(shown, name, problem, await choicesOf(ports, tenantId, free)) }
}

/** What to do when a text does not mean exactly one license. */
function notOneLicense({ found, free, more }: { found: number; free: number; more: boolean }): string {
  if (free > 0)
    return more
      ? 'Several licenses match, and not all are shown. Choose one, or type more.'
      : 'Several licenses match. Choose one.'
  if (more) return 'Too many licenses match. Type more.'
  if (found > 0) return 'All licenses that match were linked to customers. Unlink one there first.'
  return 'No license matches. Enter a key, or three or more characters of a name or an email address.'
}

async function choicesOf(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  licenses: readonly IssuedLicense[],
): Promise<Choice[]> {
  const people = await subjects.openPeople(
    tenantId,
    licenses.map(({ holder }) => holder),
  )
  return licenses.map(({ licenseId, displayKey, productId, customerId }, at) => ({
    id: licenseId,
    words: [
      displayKey,
      productId,
      people[at]?.email ?? 'no email address',
      ...(customerId === null ? [] : ['with a customer by its address']),
    ].join(', '),
  }))
}
