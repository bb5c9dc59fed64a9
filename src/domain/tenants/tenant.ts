import { shortestLifetimeSeconds } from '../confirmations/events.ts'
import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import type { Plan, TenantEvent } from './events.ts'

export type Tenant =
  | { status: 'absent' }
  | {
      status: 'active' | 'suspended' | 'closed'
      tenantId: string
      name: string
      /** Absent before the vendor chose the name; see {@link isNamed}. */
      renamed?: true
      plan: Plan
      /** Whether a member other than the requester has to approve dangerous requests. */
      anotherMemberApproves: boolean
      /** How long a dangerous request can be approved or denied. */
      confirmationSeconds: number
      /** Whether the first steps were taken off the home page. */
      onboardingDismissed: boolean
      /** Whether the vendor said that licenses are sold without a connected provider. */
      sellsElsewhere: boolean
      /** Present when the vendor alone says whose a license is; otherwise it belongs to the customer with its holder's address. */
      noCustomersByAddress?: true
      /** Present when members other than owners sign in only at a provider. */
      providersOnly?: true
      createdAt: string
    }

export type TenantCommand =
  | { type: 'CreateTenant'; tenantId: string; name: string; plan: Plan; at: string }
  | { type: 'RenameTenant'; name: string; at: string }
  | { type: 'SuspendTenant'; reason: string | null; at: string }
  | { type: 'ReinstateTenant'; at: string }
  | { type: 'CloseTenant'; reason: string | null; at: string }
  | { type: 'ChangeApprovalRule'; anotherMember: boolean; at: string }
  | { type: 'ChangeConfirmationLifetime'; seconds: number; at: string }
  | { type: 'ChangeCustomersByAddress'; isOn: boolean; at: string }
  | { type: 'ChangeSignInRule'; providersOnly: boolean; at: string }
  | { type: 'DismissOnboarding' | 'ChooseSellingElsewhere'; at: string }

/** Every first path segment that the service itself uses, which a tenant's URLs would collide with. */
export const reservedTenantIds: ReadonlySet<string> = new Set([
  'v1',
  'api',
  'webhooks',
  'dashboard',
  'docs',
  'portal',
  'assets',
  'livez',
  'readyz',
  'metrics',
  'login',
  '.well-known',
])

/**
 * A new tenant's id is none of these either: `connect` is an address of its own in `/api/stripe/webhook/connect`, and errors under
 * `/scim/v2` have a form of their own.
 */
const unavailableIds: ReadonlySet<string> = new Set([...reservedTenantIds, 'connect', 'scim'])

export const absentTenant: Tenant = { status: 'absent' }

/**
 * What a plan allows.
 * @see docs/concepts/plans.md
 */
export const planLimits: Record<Plan, { products: number; activeDevices: number }> = {
  free: { products: 3, activeDevices: 100 },
  team: { products: 50, activeDevices: 10_000 },
  unlimited: { products: Number.POSITIVE_INFINITY, activeDevices: Number.POSITIVE_INFINITY },
}

/**
 * Whether a person named the tenant. A tenant that was created without a name is called like its id; the first start calls
 * `demo` _Demo_.
 */
export const isNamed = ({ renamed, name, tenantId }: Exclude<Tenant, { status: 'absent' }>): boolean =>
  renamed === true || name.toLowerCase() !== tenantId

/**
 * Closing is final. Renaming to the chosen name, suspending a suspended tenant and reinstating an active one change nothing, nor does dismissing the
 * onboarding or choosing to sell elsewhere a second time.
 * @throws Refusal `tenant_exists`, `tenant_id_reserved`, `tenant_not_found`, `tenant_closed`
 */
export function decideTenant(tenant: Tenant, command: TenantCommand): TenantEvent[] {
  if (command.type === 'CreateTenant') {
    if (tenant.status !== 'absent') throw new Refusal('tenant_exists')
    const { tenantId, name, plan, at } = command
    if (unavailableIds.has(tenantId)) throw new Refusal('tenant_id_reserved')
    return [{ type: 'TenantCreated', data: { tenantId, name, plan, at } }]
  }
  if (tenant.status === 'absent') throw new Refusal('tenant_not_found')
  switch (command.type) {
    case 'CloseTenant':
      if (tenant.status === 'closed') return []
      return [{ type: 'TenantClosed', data: { reason: command.reason, at: command.at } }]
    case 'RenameTenant':
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      if (tenant.renamed && tenant.name === command.name) return []
      return [{ type: 'TenantRenamed', data: { name: command.name, at: command.at } }]
    case 'SuspendTenant':
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      if (tenant.status === 'suspended') return []
      return [{ type: 'TenantSuspended', data: { reason: command.reason, at: command.at } }]
    case 'ReinstateTenant':
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      return tenant.status === 'active' ? [] : [{ type: 'TenantReinstated', data: { at: command.at } }]
    case 'ChangeApprovalRule': {
      const { anotherMember, at } = command
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      if (tenant.anotherMemberApproves === anotherMember) return []
      return [{ type: 'ApprovalRuleChanged', data: { anotherMember, at } }]
    }
    case 'ChangeConfirmationLifetime': {
      const { seconds, at } = command
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      if (tenant.confirmationSeconds === seconds) return []
      return [{ type: 'ConfirmationLifetimeChanged', data: { seconds, at } }]
    }
    case 'ChangeCustomersByAddress': {
      const { isOn, at } = command
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      if (isOn === !tenant.noCustomersByAddress) return []
      return [{ type: 'CustomersByAddressChanged', data: { isOn, at } }]
    }
    case 'ChangeSignInRule': {
      const { providersOnly, at } = command
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      if (providersOnly === (tenant.providersOnly ?? false)) return []
      return [{ type: 'SignInRuleChanged', data: { providersOnly, at } }]
    }
    case 'DismissOnboarding':
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      return tenant.onboardingDismissed ? [] : [{ type: 'OnboardingDismissed', data: { at: command.at } }]
    case 'ChooseSellingElsewhere':
      if (tenant.status === 'closed') throw new Refusal('tenant_closed')
      return tenant.sellsElsewhere ? [] : [{ type: 'SellingElsewhereChosen', data: { at: command.at } }]
  }
}

/** Never refuses: what is recorded has happened. */
export function evolveTenant(tenant: Tenant, event: TenantEvent): Tenant {
  if (event.type === 'TenantCreated') {
    const { tenantId, name, plan, at } = event.data
    const unset = {
      anotherMemberApproves: false,
      confirmationSeconds: shortestLifetimeSeconds,
      onboardingDismissed: false,
      sellsElsewhere: false,
    }
    return { status: 'active', tenantId, name, plan, ...unset, createdAt: at }
  }
  if (tenant.status === 'absent') return tenant
  switch (event.type) {
    case 'TenantRenamed':
      return { ...tenant, name: event.data.name, renamed: true }
    case 'TenantSuspended':
      return { ...tenant, status: 'suspended' }
    case 'TenantReinstated':
      return { ...tenant, status: 'active' }
    case 'TenantClosed':
      return { ...tenant, status: 'closed' }
    case 'ApprovalRuleChanged':
      return { ...tenant, anotherMemberApproves: event.data.anotherMember }
    case 'ConfirmationLifetimeChanged':
      return { ...tenant, confirmationSeconds: event.data.seconds }
    case 'OnboardingDismissed':
      return { ...tenant, onboardingDismissed: true }
    case 'SellingElsewhereChosen':
      return { ...tenant, sellsElsewhere: true }
    case 'CustomersByAddressChanged': {
      const { noCustomersByAddress: _, ...others } = tenant
      return event.data.isOn ? others : { ...others, noCustomersByAddress: true }
    }
    case 'SignInRuleChanged': {
      const { providersOnly: _, ...others } = tenant
      return event.data.providersOnly ? { ...others, providersOnly: true } : others
    }
    case 'SdkKeyIssued':
    case 'SdkKeyRotated':
    case 'CheckoutKeyIssued':
    case 'CheckoutKeyRotated':
      return tenant
  }
}

/** The rules of tenant streams. */
export const tenants: Decider<Tenant, TenantCommand, 'tenant'> = {
  category: 'tenant',
  initial: absentTenant,
  decide: decideTenant,
  evolve: evolveTenant,
}
