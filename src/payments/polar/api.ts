import { ask, ProviderUnavailable, troubleOfStatus } from '../trouble.ts'

/**
 * Lists the organizations that the token is good for, which changes nothing.
 * @see https://polar.sh/docs/api-reference/organizations/list
 * @throws ProviderRefused for a token that is not valid or lacks `organizations:read`, ProviderUnavailable
 */
export async function checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void> {
  // Only what is used of the SDK is loaded: all of it takes two thirds of a second.
  const [{ PolarCore }, { organizationsListOrganizations }, { PolarError }] = await Promise.all([
    import('@polar-sh/sdk/core.js'),
    import('@polar-sh/sdk/funcs/organizationsListOrganizations.js'),
    import('@polar-sh/sdk/models/errors/polarerror.js'),
  ])
  const polar = new PolarCore({ accessToken: apiKey, serverURL: apiUrl, timeoutMs: timeLimitMs })
  await ask(
    'polar',
    timeLimitMs,
    async () => {
      const page = await organizationsListOrganizations(
        polar,
        { limit: 1 },
        { retries: { strategy: 'none' } },
      )
      if (!page.ok) throw page.error
    },
    (error) =>
      error instanceof PolarError && error.statusCode >= 400
        ? troubleOfStatus('polar', error.statusCode, error.headers.get('retry-after'))
        : new ProviderUnavailable('polar', 'no usable answer'),
  )
}
