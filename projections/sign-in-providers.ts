import type { Pool } from 'pg'
import {
  findProvider,
  type ProviderOfCustomers,
  type SignInProvider,
  signInProviders,
} from '../src/domain/sign-in-providers/provider.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(signInProviders), {
  table: 'sign_in_providers',
  begun: ({ tenantId, providers }) => (tenantId === undefined ? undefined : { tenantId, providers }),
  columns: { tenantId: 'text not null unique' },
})

export const signInProvidersProjector = projectorOf(documents)

/** A tenant's sign-in providers in the order in which they were added, and the revision of their stream; -1 without any. */
export async function listSignInProviders(
  db: Pool,
  tenantId: string,
): Promise<{ providers: readonly SignInProvider[]; revision: number }> {
  const { rows } = await db.query<{ providers: SignInProvider[]; revision: number }>({
    name: 'sign-in-providers',
    text: `select state->'providers' as providers, revision from sign_in_providers where tenant_id = $1`,
    values: [tenantId],
  })
  return rows[0] ?? { providers: [], revision: -1 }
}

/** Undefined for a provider that is unknown, removed, or of another tenant. */
export async function findSignInProvider(
  db: Pool,
  tenantId: string,
  providerId: string,
): Promise<SignInProvider | undefined> {
  return findProvider(await listSignInProviders(db, tenantId), providerId)
}

/** The same for a provider that members sign in with. That of customers is absent from the dashboard. */
export async function findProviderOfMembers(
  db: Pool,
  tenantId: string,
  providerId: string,
): Promise<SignInProvider | undefined> {
  const provider = await findSignInProvider(db, tenantId, providerId)
  return provider?.audience === undefined ? provider : undefined
}

/**
 * The providers that customers of a tenant sign in with, in the order in which they were added. That of a customer who is no
 * organization any more is absent.
 */
export async function listProvidersOfCustomers(db: Pool, tenantId: string): Promise<ProviderOfCustomers[]> {
  const { rows } = await db.query<{ provider: ProviderOfCustomers }>({
    name: 'sign-in-providers-of-customers',
    text: `select p.provider
           from sign_in_providers s, jsonb_array_elements(s.state->'providers') with ordinality p (provider, place)
           where s.tenant_id = $1 and p.provider ? 'audience' and (
             p.provider->'audience'->>'customerId' is null or exists (
               select from customers c where c.tenant_id = $1 and c.customer_id = p.provider->'audience'->>'customerId'
                 and c.state ? 'people'
             )
           )
           order by p.place`,
    values: [tenantId],
  })
  return rows.map(({ provider }) => provider)
}

/** One of {@link listProvidersOfCustomers}. */
export async function findProviderOfCustomers(
  db: Pool,
  tenantId: string,
  providerId: string,
): Promise<ProviderOfCustomers | undefined> {
  const providers = await listProvidersOfCustomers(db, tenantId)
  return providers.find((provider) => provider.providerId === providerId)
}

/** What the sign-in page offers. */
export type OfferedProviders = {
  tenantId: string | null
  providers: readonly Pick<SignInProvider, 'providerId' | 'name'>[]
  /** Whether any workspace of the installation has a provider. */
  any: boolean
}

/**
 * The providers of a workspace that is not closed; without a name, those of the only workspace of the installation. It says
 * nothing of members.
 * @param workspace as a person typed it; empty for none
 */
export async function offeredProviders(db: Pool, workspace: string): Promise<OfferedProviders> {
  const { rows } = await db.query<OfferedProviders>({
    name: 'offered-sign-in-providers',
    text: `with meant as (
             select p.tenant_id,
               jsonb_path_query_array(p.state, '$.providers[*] ? (!exists(@.audience))') as providers
             from sign_in_providers p join tenants t using (tenant_id)
             where t.status <> 'closed'
               and (p.tenant_id = $1 or ($1 = '' and (select count(*) from tenants) = 1))
           )
           select (select tenant_id from meant) as "tenantId",
             coalesce((select providers from meant), '[]'::jsonb) as providers,
             exists (
               select from sign_in_providers where state @? '$.providers[*] ? (!exists(@.audience))'
             ) as any`,
    values: [workspace],
  })
  const { tenantId = null, providers = [], any = false } = rows[0] ?? {}
  return { tenantId, providers, any }
}
