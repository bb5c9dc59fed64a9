// What the programs of a vendor share. They use only the generated client, are compiled and run beside it, and print
// each call that succeeded.

import { client } from './client/client.gen.ts'
import { getConfirmation, previewConfirmation } from './client/index.ts'

const { ADDRESS: baseUrl = '', TOKEN: auth = '' } = process.env

/** Points the client at the server, and prints every call that succeeds: `called GET /v1/licenses?email&order`. */
export function connect(): void {
  client.setConfig({ baseUrl, auth, throwOnError: true })
  client.interceptors.response.use(async (response, request, { url }) => {
    const waits = response.status === 202 && isPending((await response.clone().json()) as object)
    const query = [...new URL(request.url).searchParams.keys()].map((name) => name.replace(/\[.*/, ''))
    if (response.ok && !waits) console.log(`called ${request.method} ${url}?${query.join('&')}`)
    return response
  })
}

/** @returns the value. @throws when it is not as expected */
export function expect<T>(what: string, value: T | undefined, is: (value: T) => boolean): T {
  if (value === undefined || !is(value)) throw new Error(`${what}: ${JSON.stringify(value)}`)
  console.log(what)
  return value
}

type Pending = { confirmation: { id: string } }
type Confirmation = { 'X-Service-Confirmation'?: string }

const isPending = (answer: object): answer is Pending => 'confirmation' in answer

/** Sends a gated call, waits until a person has approved it, and sends it again. @returns what it answers then */
export async function approved<Answer extends object>(
  call: (headers: Confirmation) => Promise<{ data: Answer | undefined }>,
): Promise<Exclude<Answer, Pending>> {
  const { data: asked } = await call({})
  if (!asked || !isPending(asked)) throw new Error(`no approval is asked for: ${JSON.stringify(asked)}`)
  const { id } = asked.confirmation
  const { data: shown } = await previewConfirmation({ path: { id } })
  expect('it says what it would change', shown, ({ preview }) => preview?.wouldBeRefused === null)
  for (let status = 'pending'; status === 'pending'; ) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    status = (await getConfirmation({ path: { id }, throwOnError: true })).data.status
  }
  const { data } = await call({ 'X-Service-Confirmation': id })
  if (!data || isPending(data)) throw new Error(`it did not run: ${JSON.stringify(data)}`)
  return data as Exclude<Answer, Pending>
}

/** Sends a call as a dry run, whose answer says what it would change. */
export async function rehearsed(
  call: (query: { dryRun: 'true' }) => Promise<{ data?: object | undefined }>,
): Promise<void> {
  const { data } = await call({ dryRun: 'true' })
  expect('a dry run changes nothing', data, (answer) => 'dryRun' in answer && 'sentences' in answer)
}
