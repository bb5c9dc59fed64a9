import type { Config } from '../../config.ts'
import { hasApi, type Provider } from '../../domain/integrations/provider.ts'
import { clockOfResponse, type OtherClock } from '../../ledger/connection/clock-difference.ts'
import { type Check, type CheckResult, codeOf } from './check.ts'

const answerMs = 10_000

/** The result of a request to a provider's API, which only tests the connection. */
export type ProviderCheck = { provider: Provider; result: CheckResult; clocks: readonly OtherClock[] }

/** Sends a request to the API of each provider that has one, concurrently. Any response counts as success. */
export function reachProviders(
  providers: readonly Provider[],
  { apiUrls }: Config['payments'],
): Promise<ProviderCheck[]> {
  return Promise.all(providers.filter(hasApi).map((provider) => check(provider, apiUrls[provider])))
}

async function check(provider: Provider, address: string): Promise<ProviderCheck> {
  const { host } = new URL(address)
  const before = Date.now()
  try {
    const answer = await fetch(address, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    })
    const after = Date.now()
    return {
      provider,
      result: { ok: true, required: false, detail: `${host} responds in ${after - before} ms` },
      clocks: clockOfResponse(host, answer.headers.get('date'), before, after),
    }
  } catch (error) {
    return { provider, result: { ok: false, required: false, ...failureOf(host, error) }, clocks: [] }
  }
}

/** The problem between this machine and a provider. */
export function failureOf(host: string, error: unknown): Required<Pick<CheckResult, 'detail' | 'remedy'>> {
  const code = codeOf(error) ?? ''
  const proxy = unusedProxy(process.env)
  if (error instanceof Error && error.name === 'TimeoutError') {
    const remedy = `allow outgoing HTTPS to ${host} in the firewall${proxy}`
    return { detail: `${host} did not respond within ${answerMs / 1000} s`, remedy }
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      detail: `${host} cannot be resolved (${code})`,
      remedy: `check the DNS of this machine${proxy}`,
    }
  }
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|HOSTNAME_)/.test(code)) {
    return {
      detail: `the certificate of ${host} is not trusted (${code})`,
      remedy: 'if a proxy intercepts TLS, set NODE_EXTRA_CA_CERTS to its certificate',
    }
  }
  return {
    detail: `${host} cannot be reached (${code || 'no connection'})`,
    remedy: `allow outgoing HTTPS to ${host}${proxy}`,
  }
}

/** Node ignores the usual proxy variables unless it is configured to use them. */
function unusedProxy(environment: NodeJS.ProcessEnv): string {
  const isSet = ['HTTPS_PROXY', 'https_proxy'].some((name) => (environment[name] ?? '') !== '')
  return isSet && environment.NODE_USE_ENV_PROXY !== '1'
    ? '; HTTPS_PROXY is set but has no effect without NODE_USE_ENV_PROXY=1'
    : ''
}

/** One check per provider that has an API. */
export const providerChecks = (
  providers: readonly Provider[],
  reached: Promise<readonly ProviderCheck[]>,
): Check[] =>
  providers.filter(hasApi).map((provider) => ({
    name: `provider_${provider}`,
    run: async () =>
      (await reached).find((one) => one.provider === provider)?.result ?? { ok: true, required: false },
  }))
