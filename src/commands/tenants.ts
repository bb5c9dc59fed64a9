import type { Plan } from '../domain/tenants/events.ts'
import { type Tenant, type TenantCommand, tenants } from '../domain/tenants/tenant.ts'
import { loadFromLog } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'
import { withTenantLock } from './cross-stream/tenant-lock.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/** @throws Refusal `tenant_exists`, `tenant_id_reserved` */
export async function createTenant(
  services: Ports<'execute' | 'now'>,
  tenant: { tenantId: string; name: string; plan: Plan },
  origin: Origin,
): Promise<void> {
  await change(services, tenant.tenantId, { type: 'CreateTenant', ...tenant, at: momentOf(services) }, origin)
}

/**
 * Names a workspace: pages, mails and the portal show the name.
 * @throws Refusal `tenant_not_found`, `tenant_closed`
 */
export async function renameTenant(
  services: Ports<'execute' | 'now'>,
  tenantId: string,
  name: string,
  origin: Origin,
): Promise<void> {
  await change(services, tenantId, { type: 'RenameTenant', name, at: momentOf(services) }, origin)
}

/** @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function suspendTenant(
  services: Ports<'execute' | 'now'>,
  tenantId: string,
  reason: string | null,
  origin: Origin,
): Promise<void> {
  await change(services, tenantId, { type: 'SuspendTenant', reason, at: momentOf(services) }, origin)
}

/** @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function reinstateTenant(
  services: Ports<'execute' | 'now'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  await change(services, tenantId, { type: 'ReinstateTenant', at: momentOf(services) }, origin)
}

/** Closes a tenant permanently. @throws Refusal `tenant_not_found` */
export async function closeTenant(
  services: Ports<'execute' | 'now'>,
  tenantId: string,
  reason: string | null,
  origin: Origin,
): Promise<void> {
  await change(services, tenantId, { type: 'CloseTenant', reason, at: momentOf(services) }, origin)
}

/**
 * Sets whether a member other than the requester has to approve dangerous requests. It takes the same lock as
 * approvals, so the rule applies to every approval after this returns.
 * @throws Refusal `tenant_not_found`, `tenant_closed`
 */
export async function changeApprovalRule(
  services: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  anotherMember: boolean,
  origin: Origin,
): Promise<void> {
  await withTenantLock(services.db, tenantId, 'approvals', async (prove) => {
    await prove()
    await change(
      services,
      tenantId,
      { type: 'ChangeApprovalRule', anotherMember, at: momentOf(services) },
      origin,
    )
  })
}

/**
 * Sets how long the dangerous requests that are made from now on can be approved or denied.
 * @throws Refusal `tenant_not_found`, `tenant_closed`
 */
export async function changeConfirmationLifetime(
  services: Ports<'execute' | 'now'>,
  tenantId: string,
  seconds: number,
  origin: Origin,
): Promise<void> {
  const at = momentOf(services)
  await change(services, tenantId, { type: 'ChangeConfirmationLifetime', seconds, at }, origin)
}

/** Takes the first steps off the home page of every member. @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function dismissOnboarding(
  services: Ports<'execute' | 'now'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  await change(services, tenantId, { type: 'DismissOnboarding', at: momentOf(services) }, origin)
}

/** Notes that the tenant sells without a connected provider. @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function chooseSellingElsewhere(
  services: Ports<'execute' | 'now'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  await change(services, tenantId, { type: 'ChooseSellingElsewhere', at: momentOf(services) }, origin)
}

/** Reads the log, which is never behind as a read model may be. */
export async function loadTenant(services: Ports<'ledger'>, tenantId: string): Promise<Tenant> {
  const { state } = await loadFromLog(services.ledger, tenantId, tenants)
  return state
}

function change(services: Ports<'execute'>, tenantId: string, command: TenantCommand, origin: Origin) {
  return services.execute(tenants, tenantId, command, causeOf(origin, command.at))
}
