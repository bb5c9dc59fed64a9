import { z } from 'zod'
import { isId } from '../../credentials/id.ts'
import { Role } from '../../domain/members/roles.ts'
import type { RefusalCode } from '../../domain/refusal.ts'
import { ProviderSettings } from '../../domain/sign-in-providers/events.ts'
import type { SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import { isSlug } from '../../domain/values.ts'
import { newForm } from '../forms/filled-form.ts'
import { given, optionalLine, wantedLine, wordsIn } from '../forms/typed.ts'

const { domains, roles } = ProviderSettings.shape

/** Created with the form, so that sending it twice changes things once. */
const operation = z.string().refine((id) => isId('req', id))

/** `value: role`, one in each line; a value may hold colons. */
const mappedRoles = given.transform((text, context) => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const mapped = roles.safeParse(
    lines.map((line) => {
      const at = line.lastIndexOf(':')
      return { value: line.slice(0, Math.max(0, at)).trim(), role: line.slice(at + 1).trim() }
    }),
  )
  if (mapped.success) return mapped.data
  const message = `Write each line as value: role. Roles are ${Role.options.join(', ')}.`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

const emailDomains = given.transform((text, context) => {
  const named = domains.safeParse([...new Set(wordsIn(text.toLowerCase()))])
  if (named.success) return named.data
  context.addIssue({ code: 'custom', message: 'Enter one or more domains, such as acme.example.' })
  return z.NEVER
})

const fields = {
  operation,
  name: wantedLine(60, 'Enter a name.'),
  clientId: wantedLine(300, 'Enter the client ID.'),
  domains: emailDomains,
  roleClaim: optionalLine(100).transform((claim) => claim ?? null),
  roles: mappedRoles,
  defaultRole: z.union([Role, z.literal('').transform(() => null)]),
}

export const NewProviderForm = z.object({
  ...fields,
  id: given.refine(isSlug, 'Enter lowercase letters, digits and hyphens, such as entra.'),
  issuer: wantedLine(2048, 'Enter the issuer.'),
  clientSecret: wantedLine(4096, 'Enter the client secret.'),
})

/** An empty client secret keeps the present one. */
export const ProviderForm = z.object({ ...fields, clientSecret: optionalLine(4096) })

export const OperationForm = z.object({ operation })
export const RuleForm = z.object({ rule: z.enum(['any', 'providers']) })

/** The form of a provider as it is, without its secret. */
export const formOfProvider = (provider: SignInProvider) =>
  newForm({
    name: provider.name,
    clientId: provider.clientId,
    domains: provider.domains.join('\n'),
    roleClaim: provider.roleClaim ?? '',
    roles: provider.roles.map(({ value, role }) => `${value}: ${role}`).join('\n'),
    defaultRole: provider.defaultRole ?? '',
  })

/** The field that each refusal concerns. */
export const fieldOf: Partial<Record<RefusalCode, readonly [field: string, sentence: string]>> = {
  sign_in_provider_exists: ['id', 'A provider with this ID already exists. Choose another ID.'],
  sign_in_issuer_taken: ['issuer', 'A provider with this issuer already exists. Change that one.'],
  sign_in_issuer_not_allowed: [
    'issuer',
    'Enter an https URL with a public address, without credentials, query and fragment.',
  ],
}
