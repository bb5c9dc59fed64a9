import { tokenHashOf } from '../../credentials/token.ts'
import { isSlug } from '../../domain/values.ts'
import { wholeNumberOf } from '../../numbers.ts'
import { ownClocks } from '../../relay/clock.ts'
import { enroll } from '../../relay/enrollment.ts'
import { askVendor } from '../../relay/online.ts'
import { acceptAnswer } from '../../relay/requests.ts'
import { CommandMisused } from '../../terminal/exit-codes.ts'
import { printToStderr } from '../../terminal/output.ts'
import { firstLineOf, typedHidden } from '../secret-input.ts'
import { inWords, withRelay, writeOut } from './open.ts'
import type { EnrollOptions } from './options.ts'

/** `keyledger relay enroll` */
export async function enrollRelay(options: EnrollOptions): Promise<void> {
  const { data, tenant: tenantId, product: productId, name, out } = options
  for (const id of [tenantId, productId])
    if (!isSlug(id)) throw new CommandMisused(`${id} is no id: use lowercase letters, digits and hyphens.`)
  if (name.trim() === '' || name.length > 200) throw new CommandMisused('--name needs 1 to 200 characters.')
  const seats = wholeNumberOf('--seats', options.seats, 1, 100_000)
  const server = await serverIn(options)
  const licenseKey = await secretIn(options.licenseKeyFile, 'License key: ', '--license-key-file')
  const password = await passwordIn(options)
  const request = await inWords(() =>
    enroll(data, { tenantId, productId, name, seats, server, licenseKey, password }, ownClocks),
  )
  if (server === null || out !== undefined) {
    writeOut(request, out)
    printToStderr('Send this request to the vendor, and accept the answer: keyledger relay accept <file>.')
    return
  }
  await withRelay(data, async ({ database, key, clock, enrollment }) => {
    acceptAnswer(database, key, clock, await askVendor(enrollment, { request }))
  })
  printToStderr('The relay is enrolled. Start it: keyledger relay serve.')
}

async function serverIn({ server, sdkKeyFile }: EnrollOptions) {
  if (server === undefined) return null
  const url = URL.parse(server)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new CommandMisused('--server must be a full URL, such as https://licenses.example.com.')
  if (sdkKeyFile === undefined) throw new CommandMisused('--server needs --sdk-key-file.')
  const sdkKey = (await firstLineOf(sdkKeyFile)).trim()
  if (tokenHashOf(sdkKey, 'sdk') === undefined) throw new CommandMisused(`${sdkKeyFile} has no SDK key.`)
  return { url: server.replace(/\/+$/, ''), sdkKey }
}

async function passwordIn({ passwordFile, licenseKeyFile }: EnrollOptions): Promise<string> {
  if (passwordFile === '-' && licenseKeyFile === '-')
    throw new CommandMisused('Only one secret can be read from stdin. Use a file for the other one.')
  const password = await secretIn(passwordFile, 'Password for the page of the relay: ', '--password-file')
  if (passwordFile === undefined && (await typedHidden('Repeat password: ')) !== password)
    throw new CommandMisused('The passwords differ. Try again.')
  return password
}

async function secretIn(file: string | undefined, prompt: string, option: string): Promise<string> {
  if (file !== undefined) return (await firstLineOf(file)).trim()
  if (!process.stdin.isTTY)
    throw new CommandMisused(`There is no terminal to type at. Use ${option} <path>, or - for stdin.`)
  return (await typedHidden(prompt)).trim()
}
