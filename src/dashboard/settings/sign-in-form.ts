import { z } from 'zod'
import { isId } from '../../credentials/id.ts'
import { GivenRole } from '../../domain/members/roles.ts'
import type { RefusalCode } from '../../domain/refusal.ts'
import { ScimSettings } from '../../domain/scim/events.ts'
import type { Scim } from '../../domain/scim/scim.ts'
import { ProvidedRole, ProviderSettings } from '../../domain/sign-in-providers/events.ts'
import type { SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import { isSlug } from '../../domain/values.ts'
import { newForm } from '../forms/filled-form.ts'
import { given, optionalLine, wantedLine, wordsIn } from '../forms/typed.ts'
import { nameOfRole, type Roles, roleList, roleNamed } from '../members/role-names.ts'

const { domains, roles } = ProviderSettings.shape

/** Created with the form, so that sending it twice changes things once. */
const operation = z.string().refine((id) => isId('req', id))

/** What stands before the colon, and a role, one of each in a line; what stands before may hold colons. */
const rolesBy = <Name extends 'value' | 'group', Mapped extends z.ZodType>(
  name: Name,
  mappedRoles: Mapped,
  known: Roles,
) =>
  given.transform((text, context): z.infer<Mapped> => {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
    const mapped = mappedRoles.safeParse(
      lines.map((line) => {
        const at = line.lastIndexOf(':')
        return {
          [name]: line.slice(0, Math.max(0, at)).trim(),
          role: roleNamed(known, line.slice(at + 1).trim()),
        }
      }),
    )
    if (mapped.success) return mapped.data
    const message = `Write each line as ${name}: role. Roles of members are ${roleList(known)}.`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

const emailDomains = given.transform((text, context) => {
  const named = domains.safeParse([...new Set(wordsIn(text.toLowerCase()))])
  if (named.success) return named.data
  context.addIssue({ code: 'custom', message: 'Enter one or more domains, such as acme.example.' })
  return z.NEVER
})

const noRole = z.literal('').transform(() => null)

/** A page without the field has no role to give. */
const defaultRole = given.pipe(z.union([ProvidedRole, noRole]))

const fieldsWith = (known: Roles) => ({
  operation,
  name: wantedLine(60, 'Enter a name.'),
  clientId: wantedLine(300, 'Enter the client ID.'),
  domains: emailDomains,
  roleClaim: optionalLine(100).transform((claim) => claim ?? null),
  roles: rolesBy('value', roles, known),
  defaultRole,
})

/** @param known the custom roles of the workspace, which the form may name */
export const newProviderForm = (known: Roles) =>
  z.object({
    ...fieldsWith(known),
    id: given.refine(isSlug, 'Enter lowercase letters, digits and hyphens, such as entra.'),
    issuer: wantedLine(2048, 'Enter the issuer.'),
    audience: z.enum(['members', 'customers']),
    customerId: optionalLine(100).transform((id) => id ?? null),
    clientSecret: wantedLine(4096, 'Enter the client secret.'),
  })

/** An empty client secret keeps the present one. */
export const providerForm = (known: Roles) =>
  z.object({ ...fieldsWith(known), clientSecret: optionalLine(4096) })

/** How members of a directory get their roles. */
export const directoryForm = (known: Roles) =>
  z.object({
    operation,
    roles: rolesBy('group', ScimSettings.shape.roles, known),
    defaultRole: z.union([GivenRole, noRole]),
  })

/** The form of a directory as it is. */
export const formOfDirectory = ({ settings }: Pick<Scim, 'settings'>, known: Roles) =>
  newForm({
    roles: settings.roles.map(({ group, role }) => `${group}: ${nameOfRole(known, role)}`).join('\n'),
    defaultRole: settings.defaultRole ?? '',
  })

export const OperationForm = z.object({ operation })
export const RuleForm = z.object({ rule: z.enum(['any', 'providers']) })

/** The form of a provider as it is, without its secret. */
export const formOfProvider = (provider: SignInProvider, known: Roles) =>
  newForm({
    name: provider.name,
    clientId: provider.clientId,
    domains: provider.domains.join('\n'),
    roleClaim: provider.roleClaim ?? '',
    roles: provider.roles.map(({ value, role }) => `${value}: ${nameOfRole(known, role)}`).join('\n'),
    defaultRole: provider.defaultRole ?? '',
  })

/** The field that each refusal concerns. */
export const fieldOf: Partial<Record<RefusalCode, readonly [field: string, sentence: string]>> = {
  sign_in_provider_exists: ['id', 'A provider with this ID already exists. Choose another ID.'],
  sign_in_issuer_taken: ['issuer', 'These people already have a provider with this issuer. Change that one.'],
  sign_in_roles_of_others: [
    'roles',
    'Members get roles of members, people of an organization get administrator or member, and other customers none.',
  ],
  customer_not_found: ['customerId', 'No customer has this ID.'],
  not_an_organization: ['customerId', 'This customer is not an organization. Make it one first.'],
  sign_in_issuer_not_allowed: [
    'issuer',
    'Enter an https URL with a public address, without credentials, query and fragment.',
  ],
}
