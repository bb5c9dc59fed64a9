import { listSignInProviders } from '../../projections/sign-in-providers.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Plan } from '../domain/tenants/events.ts'
import { type Tenant, type TenantCommand, tenants } from '../domain/tenants/tenant.ts'
import { loadFromLog } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { withTenantLock } from './cross-stream/tenant-lock.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/** @throws Refusal `tenant_exists`, `tenant_id_reserved` */
export async function createTenant(
  ports: Ports<'execute' | 'now'>,
  tenant: { tenantId: string; name: string; plan: Plan },
  origin: Origin,
): Promise<void> {
  await change(ports, tenant.tenantId, { type: 'CreateTenant', ...tenant, at: momentOf(ports) }, origin)
}

/**
 * Names a workspace: pages, mails and the portal show the name.
 * @throws Refusal `tenant_not_found`, `tenant_closed`
 */
export async function renameTenant(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  name: string,
  origin: Origin,
): Promise<void> {
  await change(ports, tenantId, { type: 'RenameTenant', name, at: momentOf(ports) }, origin)
}

/** @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function suspendTenant(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  reason: string | null,
  origin: Origin,
): Promise<void> {
  await change(ports, tenantId, { type: 'SuspendTenant', reason, at: momentOf(ports) }, origin)
}

/** @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function reinstateTenant(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  await change(ports, tenantId, { type: 'ReinstateTenant', at: momentOf(ports) }, origin)
}

/** Closes a tenant permanently. @throws Refusal `tenant_not_found` */
export async function closeTenant(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  reason: string | null,
  origin: Origin,
): Promise<void> {
  await change(ports, tenantId, { type: 'CloseTenant', reason, at: momentOf(ports) }, origin)
}

/**
 * Sets whether a member other than the requester has to approve dangerous requests. It takes the same lock as
 * approvals, so the rule applies to every approval after this returns.
 * @throws Refusal `tenant_not_found`, `tenant_closed`
 */
export async function changeApprovalRule(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  anotherMember: boolean,
  origin: Origin,
): Promise<void> {
  await withTenantLock(ports.db, tenantId, 'approvals', async (prove) => {
    await prove()
    await change(ports, tenantId, { type: 'ChangeApprovalRule', anotherMember, at: momentOf(ports) }, origin)
  })
}

/**
 * Sets how long the dangerous requests that are made from now on can be approved or denied.
 * @throws Refusal `tenant_not_found`, `tenant_closed`
 */
export async function changeConfirmationLifetime(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  seconds: number,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  await change(ports, tenantId, { type: 'ChangeConfirmationLifetime', seconds, at }, origin)
}

/**
 * Says whether licenses that are issued from now on belong to the customer with their holder's address.
 * @throws Refusal `tenant_not_found`, `tenant_closed`
 */
export async function changeCustomersByAddress(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  isOn: boolean,
  origin: Origin,
): Promise<void> {
  await change(ports, tenantId, { type: 'ChangeCustomersByAddress', isOn, at: momentOf(ports) }, origin)
}

/**
 * Sets whether members other than owners sign in only at a provider. It holds at once: their other sessions stop working.
 * @throws Refusal `tenant_not_found`, `tenant_closed`, `sign_in_provider_wanted`
 */
export async function changeSignInRule(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  providersOnly: boolean,
  origin: Origin,
): Promise<void> {
  const { providers } = await listSignInProviders(ports.db, tenantId)
  if (providersOnly && providers.every(({ audience }) => audience !== undefined))
    throw new Refusal('sign_in_provider_wanted')
  await change(ports, tenantId, { type: 'ChangeSignInRule', providersOnly, at: momentOf(ports) }, origin)
}

/** Takes the first steps off the home page of every member. @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function dismissOnboarding(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  await change(ports, tenantId, { type: 'DismissOnboarding', at: momentOf(ports) }, origin)
}

/** Notes that the tenant sells without a connected provider. @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function chooseSellingElsewhere(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  await change(ports, tenantId, { type: 'ChooseSellingElsewhere', at: momentOf(ports) }, origin)
}

/** Reads the log, which is never behind as a read model may be. */
export async function loadTenant(ports: Ports<'ledger'>, tenantId: string): Promise<Tenant> {
  const { state } = await loadFromLog(ports.ledger, tenantId, tenants)
  return state
}

function change(ports: Ports<'execute'>, tenantId: string, command: TenantCommand, origin: Origin) {
  return ports.execute(tenants, tenantId, command, causeOf(origin, command.at))
}
