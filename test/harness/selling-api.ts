import { changeIntegration } from '../../src/commands/integrations/integrations.ts'
import type { Limits } from '../../src/limits/limits.ts'
import type { Mailing } from '../../src/mail/mailing.ts'
import type { AllPorts } from '../../src/ports.ts'
import { openTestApi, type TestApi } from './api.ts'
import { origin } from './ledger.ts'
import { type ProviderStandIns, startProviders } from './providers.ts'

export type SellingApi = TestApi & { standIns: ProviderStandIns }

/** An application with stand-ins for the payment providers, which are closed with it. */
export async function openSellingApi(
  options: { limits?: Limits; baseUrl?: string; mailing?: Mailing } = {},
): Promise<SellingApi> {
  const standIns = await startProviders()
  const api = await openTestApi({ ...options, providers: standIns.settings })
  return {
    ...api,
    standIns,
    async close() {
      await api.close()
      await standIns.close()
    },
  }
}

/** Connects the card provider, as an onboarding does. */
export async function connectAccount(ports: AllPorts, tenantId: string, accountId: string): Promise<void> {
  await changeIntegration(ports, tenantId, 'stripe', origin, (at) => ({
    type: 'StartOnboarding',
    tenantId,
    accountId,
    at,
  }))
  await changeIntegration(ports, tenantId, 'stripe', origin, (at) => ({
    type: 'FinishOnboarding',
    accountId,
    at,
  }))
}
