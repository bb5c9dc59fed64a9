import { addProvider } from '../../src/commands/sign-in-providers.ts'
import type { ProviderAudience, ProviderSettings } from '../../src/domain/sign-in-providers/events.ts'
import type { SignInProvider } from '../../src/domain/sign-in-providers/provider.ts'
import { origin, type TestLedger, uniqueId } from './ledger.ts'
import { clientId, clientSecret } from './openid-provider.ts'

export const testSettings: ProviderSettings = {
  name: 'Acme Login',
  clientId,
  roleClaim: 'groups',
  roles: [
    { value: 'owners', role: 'owner' },
    { value: 'developers', role: 'developer' },
  ],
  defaultRole: 'auditor',
  domains: ['acme.example'],
}

/** Of customers who are in no organization, and for an organization that gives nobody a role. */
export const noRoles: ProviderSettings = { ...testSettings, roleClaim: null, roles: [], defaultRole: null }

/** Of an organization. */
export const organizationSettings: ProviderSettings = {
  ...testSettings,
  roles: [{ value: 'owners', role: 'administrator' }],
  defaultRole: 'member',
}

/** A sign-in provider, also one that is not at a public address. */
export const addTestProvider = (
  { ports }: Pick<TestLedger, 'ports'>,
  tenantId: string,
  providerId: string,
  issuer = `https://${providerId}.example.com`,
  more: { audience?: ProviderAudience; settings?: ProviderSettings } = {},
): Promise<SignInProvider> =>
  addProvider(
    ports,
    tenantId,
    { providerId, issuer, clientSecret, settings: testSettings, ...more },
    uniqueId('req'),
    origin,
  )
