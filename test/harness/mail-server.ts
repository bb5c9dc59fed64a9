import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { freePort } from './process.ts'

/** A mail as the server received it, with the addresses of its envelope. */
type TakenMail = { from: string; to: string[]; raw: string }

/** A mail server that accepts every mail, unless configured otherwise. */
export async function startMailServer(
  options: SMTPServerOptions = {},
): Promise<{ url: string; taken: TakenMail[]; stop(): Promise<void> }> {
  const taken: TakenMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, { envelope }, callback) {
      let raw = ''
      stream.setEncoding('utf8')
      stream.on('data', (part: string) => {
        raw += part
      })
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope
        taken.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw,
        })
        callback()
      })
    },
    ...options,
  })
  server.on('error', () => undefined)
  const port = await freePort()
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', () => resolve())
  })
  return {
    url: `smtp://127.0.0.1:${port}`,
    taken,
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}
