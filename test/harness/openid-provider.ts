import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'

export const clientId = 'keyledger'
export const clientSecret = 'a client secret of the tests, long enough for HS256 too'

type Account = { email?: string; email_verified?: boolean; groups?: string[] }

/** A real provider of OpenID Connect on a port of this machine. */
export type TestProvider = {
  issuer: string
  /** Who signs in when the provider asks, and what it says of each. */
  who: string
  accounts: Map<string, Account>
  /** Changes the claims of ID tokens before they are signed again; undefined leaves them as the provider made them. */
  tamper: ((claims: JWTPayload) => JWTPayload | Promise<string>) | undefined
  /** Signs any claims as the provider does. */
  sign(claims: JWTPayload, key?: JWK): Promise<string>
  /** A browser at the provider, with its own cookies. */
  browser(): ProviderBrowser
  close(): Promise<void>
}

export type ProviderBrowser = {
  /** Follows redirects, from an address of the provider to the first address of another server. */
  follow(url: string): Promise<URL>
  /** Ends the session at the provider, as its own page does. */
  signOut(url: string): Promise<URL>
}

export async function openProvider(clients: readonly string[], port = 0): Promise<TestProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key: JWK = { ...(await exportJWK(privateKey)), kid: 'of-the-tests', alg: 'RS256', use: 'sig' }
  let handle: ReturnType<Provider['callback']> | undefined
  const server = createServer((request, response) => void handle?.(request, response))
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve))
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  const sign: TestProvider['sign'] = async (claims, by = key) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'of-the-tests' })
      .sign(await importJWK(by, 'RS256'))
  const test: TestProvider = {
    issuer,
    who: 'ada',
    accounts: new Map([['ada', { email: 'ada@acme.example', email_verified: true }]]),
    tamper: undefined,
    sign,
    browser: () => browserAt(issuer),
    async close() {
      server.close()
      // Browsers keep theirs open.
      server.closeAllConnections()
    },
  }
  const provider = new Provider(issuer, settings(test, key, clients))
  provider.use(async (context, next) => {
    if (context.path.startsWith('/login/')) return interact(provider, test, context)
    await next()
    const body = context.body as { id_token?: string } | undefined
    if (context.path !== '/token' || !test.tamper || body?.id_token === undefined) return
    const changed = await test.tamper(decodeJwt(body.id_token))
    body.id_token = typeof changed === 'string' ? changed : await sign(changed)
  })
  handle = provider.callback()
  return test
}

function settings(test: TestProvider, key: JWK, callbacks: readonly string[]) {
  const [first = ''] = callbacks
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...callbacks],
        post_logout_redirect_uris: [`${new URL(first).origin}/dashboard/sign-in`],
        backchannel_logout_uri: first
          .replace(/\/dashboard\/sign-in(\/.*)\/callback$/, '/login$1/logout')
          .replace(/\/portal\/([^/]+)\/sign-in(\/.*)\/callback$/, '/login/$1$2/logout'),
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['of the tests'] },
    claims: { openid: ['sub', 'groups', 'sid', 'auth_time'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    // The default one calls no address of this machine.
    fetch(url: string | URL | Request, options: RequestInit & { dispatcher?: unknown } = {}) {
      const { dispatcher: _, ...others } = options
      return fetch(url, others)
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/login/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...test.accounts.get(accountId) }),
    }),
    ttl: { Interaction: 600, Session: 3600, Grant: 3600, AccessToken: 600, IdToken: 600 },
  }
}

/** Signs in as `who` and consents at once. */
async function interact(
  provider: Provider,
  test: TestProvider,
  { req, res }: Parameters<Parameters<Provider['use']>[0]>[0],
): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res)
  if (prompt.name === 'login') {
    await provider.interactionFinished(req, res, { login: { accountId: test.who } })
    return
  }
  const found = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  const grant =
    found ?? new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) })
  grant.addOIDCScope('openid email')
  await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } })
}

function browserAt(issuer: string): ProviderBrowser {
  const cookies = new Map<string, string>()
  async function send(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, headers: { ...init.headers, cookie }, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }
  async function follow(url: string): Promise<URL> {
    let at = new URL(url)
    while (at.origin === issuer) {
      const response = await send(at.href)
      const to = response.headers.get('location')
      if (to === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`)
      at = new URL(to, at)
    }
    return at
  }
  return {
    follow,
    async signOut(url) {
      const page = await (await send(url)).text()
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
      const confirmed = await send(`${issuer}/session/end/confirm`, {
        method: 'POST',
        body: new URLSearchParams({ xsrf, logout: 'yes' }),
      })
      return new URL(confirmed.headers.get('location') ?? '', issuer)
    },
  }
}
