import { folding } from '../domain/recorded.ts'
import type { Plan } from '../domain/tenant/events.ts'
import {
  absentTenant,
  decideTenant,
  evolveTenant,
  type Tenant,
  type TenantCommand,
} from '../domain/tenant/tenant.ts'
import { loadFromLog } from '../ledger/load.ts'
import { tenantStream } from '../ledger/streams.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

/** @throws Refusal `tenant_exists`, `tenant_id_reserved` */
export async function createTenant(
  services: Services,
  tenant: { tenantId: string; name: string; plan: Plan },
  origin: Origin,
): Promise<void> {
  await change(services, tenant.tenantId, { type: 'CreateTenant', ...tenant, at: momentOf(services) }, origin)
}

/** @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function suspendTenant(
  services: Services,
  tenantId: string,
  reason: string | null,
  origin: Origin,
): Promise<void> {
  await change(services, tenantId, { type: 'SuspendTenant', reason, at: momentOf(services) }, origin)
}

/** @throws Refusal `tenant_not_found`, `tenant_closed` */
export async function reinstateTenant(services: Services, tenantId: string, origin: Origin): Promise<void> {
  await change(services, tenantId, { type: 'ReinstateTenant', at: momentOf(services) }, origin)
}

/** For good. @throws Refusal `tenant_not_found` */
export async function closeTenant(
  services: Services,
  tenantId: string,
  reason: string | null,
  origin: Origin,
): Promise<void> {
  await change(services, tenantId, { type: 'CloseTenant', reason, at: momentOf(services) }, origin)
}

function change(services: Services, tenantId: string, command: TenantCommand, origin: Origin) {
  const stream = tenantStream(tenantId)
  return services.handle<Tenant, 'tenant'>({
    stream,
    load: () => loadFromLog(services.ledger, stream, absentTenant, folding('tenant', evolveTenant)),
    decide: (tenant) => decideTenant(tenant, command),
    cause: causeOf(origin, command.at),
  })
}
