import { z } from 'zod'
import { GivenRole } from '../members/roles.ts'
import { Moment, Slug, text } from '../values.ts'

/** A domain of email addresses in ASCII: `acme.example`. Subdomains are domains of their own. */
const EmailDomain = z
  .string()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be a domain in lowercase ASCII, such as acme.example',
  )

/** A value of the claim, and the role that it gives. */
const MappedRole = z.strictObject({
  value: text(200).meta({ description: 'A value of the claim', example: 'licensing-admins' }),
  role: GivenRole.meta({
    description: 'The role that it gives, built in or the id of a custom one',
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
  defaultRole: GivenRole.nullable(),
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
