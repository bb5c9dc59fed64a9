import type { FastifyInstance, InjectOptions } from 'fastify'
import type { TestMember } from './members.ts'

export type Seen = {
  status: number
  text: string
  headers: Record<string, string | string[] | number | undefined>
  /** The Location header. */
  location: string | undefined
  /** The names and attributes of the cookies it sets. */
  setCookies: string[]
}

/** A browser without JavaScript: it keeps cookies, reads pages and sends their forms. */
export type Client = {
  cookies: Map<string, string>
  get(url: string, headers?: Record<string, string>): Promise<Seen>
  /** Sends a form with the token of the last page, unless another one is given. */
  post(url: string, fields?: Fields, headers?: Record<string, string>): Promise<Seen>
  /** Sends a form without adding a token. */
  postBare(url: string, fields?: Fields, headers?: Record<string, string>): Promise<Seen>
  /** Sends any request. */
  send(options: InjectOptions): Promise<Seen>
  formToken(): string
  signIn(member: TestMember, more?: Fields): Promise<Seen>
}

type Fields = Record<string, string | readonly string[]>

/** @param address the client's address */
export function clientOf(app: FastifyInstance, address = '127.0.0.1'): Client {
  const cookies = new Map<string, string>()
  let formToken = ''

  async function send(options: InjectOptions, headers: Record<string, string> = {}): Promise<Seen> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await app.inject({
      ...options,
      remoteAddress: address,
      headers: { ...(cookie !== '' && { cookie }), ...options.headers, ...headers },
    })
    for (const { name, value, expires } of response.cookies) {
      if (value === '' || (expires && expires.getTime() < 1000)) cookies.delete(name)
      else cookies.set(name, encodeURIComponent(value))
    }
    formToken = /name="_csrf" value="([^"]+)"/.exec(response.body)?.[1] ?? formToken
    const setCookies = [response.headers['set-cookie'] ?? []].flat()
    const location = response.headers.location
    return {
      status: response.statusCode,
      text: response.body,
      headers: response.headers,
      location,
      setCookies,
    }
  }

  const postBare: Client['postBare'] = (url, fields = {}, headers = {}) => {
    const pairs = Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    )
    const body = new URLSearchParams(pairs)
    return send(
      {
        method: 'POST',
        url,
        payload: body.toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      headers,
    )
  }

  const client: Client = {
    cookies,
    get: (url, headers) => send({ method: 'GET', url }, headers),
    post: (url, fields = {}, headers) => postBare(url, { _csrf: formToken, ...fields }, headers),
    postBare,
    send,
    formToken: () => formToken,
    async signIn({ email, password, newCode }, more = {}) {
      await client.get('/dashboard/sign-in')
      return client.post('/dashboard/sign-in', { email, password, code: newCode(), ...more })
    },
  }
  return client
}
