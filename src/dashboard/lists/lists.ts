import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listProducts, type PresentProduct } from '../../../projections/products/queries.ts'
import { isId } from '../../credentials/id.ts'
import { type Html, html } from '../../html.ts'
import type { Ports } from '../../ports.ts'
import { formOf } from '../forms/forms.ts'
import type { View } from '../frame/page.ts'
import { field, tokenField } from '../frame/parts.ts'
import { principalOf } from '../session/principal.ts'

/** The maximum number of options in a filter. */
const maxChoices = 200

/** The options of the product filter. */
export async function productChoices({ db }: Ports<'db'>, tenantId: string): Promise<PresentProduct[]> {
  const { items } = await listProducts(db, tenantId, { after: undefined, limit: maxChoices })
  return items
}

/** A parameter of a list's URL: of a repeated one the first counts, and an empty one is absent. */
export const one = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value) => [value].flat()[0]?.trim())
  .transform((value) => (value === '' ? undefined : value))

/** A parameter that follows a rule; one that does not is absent. */
export const oneAs = <Rule extends z.ZodType<string>>(rule: Rule) =>
  one.transform((value) => rule.safeParse(value).data)

/** The customer whose page led to a list, from its URL. */
export const oneCustomer = oneAs(z.string().refine((id) => isId('cus', id)))

/** The customer of a list, which its other filters keep. */
export const keptCustomer = (customer: string | undefined) =>
  customer !== undefined && html`<input type="hidden" name="customer" value=${customer} />`

/** The line above a list of one customer. @param all the link to the whole list, such as `Show all licenses` */
export const customerLine = (customer: string | undefined, path: string, all: string) =>
  customer !== undefined &&
  html`<p class="lead">Showing one <a href=${`/dashboard/customers/${customer}`}>customer</a>. <a href=${path}>${all}</a></p>`

/** A day in UTC: `2026-03-01`. */
export const oneDay = oneAs(z.iso.date())

/** Longer than any email address. */
const PersonForm = z.object({ email: z.string().max(400) })

/** The value of `person` in the URL when no person has the email address; no id has this form. */
const noPerson = 'nobody'

/** The filter by person in the URL. */
export const PersonId = z
  .string()
  .regex(/^[\w-]{1,100}$/)
  .optional()
  .catch(noPerson)

/**
 * The URL of a list that is filtered by the person of a sent form. Browsers and proxies store URLs, so a URL contains a
 * person's id and never their email address. Email addresses are stored sealed, so only a complete one can be searched
 * for.
 */
export async function pathOfPerson(
  { subjects }: Ports<'subjects'>,
  request: FastifyRequest,
  path: string,
): Promise<string> {
  const email = formOf(PersonForm, request).email.trim()
  if (email === '') return path
  const found = await subjects.findSubject(principalOf(request).tenantId, email)
  return `${path}?${new URLSearchParams({ person: found ?? noPerson })}`
}

/** The form above a list that finds a person by email address. */
export const personForm = ({ token }: View, path: string): Html =>
  html`<form class="filters" method="post" action=${`${path}/find`}>
    ${tokenField(token)}
    ${field({ name: 'email', label: 'Email', maxlength: 400, required: false })}
    <button class="second">Find</button>
  </form>`

/** The person who was found, which the other filters of the list keep. */
export const chosenPerson = (person: string | undefined) =>
  person !== undefined && html`<input type="hidden" name="person" value=${person} />`
