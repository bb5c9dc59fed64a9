import { z } from 'zod'
import { GivenRole } from '../members/roles.ts'
import { OrganizationRole } from '../organizations/events.ts'
import { Moment, Slug, text } from '../values.ts'

/** A domain of email addresses in ASCII: `acme.example`. Subdomains are domains of their own. */
const EmailDomain = z
  .string()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be a domain in lowercase ASCII, such as acme.example',
  )

/** A role that a provider gives: one of members, or one of the people of an organization. */
export const ProvidedRole = z.union([GivenRole, OrganizationRole])
export type ProvidedRole = z.infer<typeof ProvidedRole>

/** The customers that a provider is for: all of the vendor's, or the people of one organization. */
export const ProviderAudience = z.strictObject({ customerId: z.string().min(1).nullable() })
export type ProviderAudience = z.infer<typeof ProviderAudience>

/** A value of the claim, and the role that it gives. */
const MappedRole = z.strictObject({
  value: text(200).meta({ description: 'A value of the claim', example: 'licensing-admins' }),
  role: ProvidedRole.meta({
    description:
      'The role that it gives: for members built in or the id of a custom one, in an organization `administrator` or `member`',
    example: 'admin',
  }),
})

/** What a workspace says of a provider, besides its issuer. */
export const ProviderSettings = z.strictObject({
  /** On the button of the sign-in page. */
  name: text(60),
  clientId: text(300),
  /** Null: the provider says nothing of roles. */
  roleClaim: text(100).nullable(),
  /** The first one whose value the claim has gives the role. */
  roles: z.array(MappedRole).max(50),
  /** For a claim without a mapped value. Null: such a person is refused. */
  defaultRole: ProvidedRole.nullable(),
  /** The domains of the email addresses that the provider may vouch for. */
  domains: z.array(EmailDomain).min(1).max(50),
})
export type ProviderSettings = z.infer<typeof ProviderSettings>

/** The operation that led to the event; it also names the client secret in the vault if the event brings a new one. */
const operationId = z.string().min(1)

/** Everything a `signin-<tenant>` stream may hold. A recorded shape is never edited: add a new type. */
export const SignInProviderEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('SignInProviderAdded'),
    data: ProviderSettings.extend({
      tenantId: Slug,
      operationId,
      providerId: Slug,
      issuer: z.string().min(1).max(2048),
      /** Absent: members of the workspace. It never changes. */
      audience: ProviderAudience.optional(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('SignInProviderChanged'),
    data: ProviderSettings.extend({ operationId, providerId: Slug, at: Moment }),
  }),
  z.object({
    type: z.literal('SignInProviderSecretReplaced'),
    data: z.strictObject({ operationId, providerId: Slug, at: Moment }),
  }),
  z.object({
    type: z.literal('SignInProviderRemoved'),
    data: z.strictObject({ operationId, providerId: Slug, at: Moment }),
  }),
])
export type SignInProviderEvent = z.infer<typeof SignInProviderEvent>
