import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { PortalLogo } from '../domain/portal/events.ts'
import { Moment, Slug } from '../domain/values.ts'
import type { Mailer } from './mailer.ts'

const Correspondent = z.strictObject({ name: z.string().nullable(), email: z.string() })

const KeptMail = z.strictObject({
  deliveryId: z.string(),
  tenantId: Slug,
  at: Moment,
  from: Correspondent,
  replyTo: z.string().nullable(),
  to: Correspondent,
  subject: z.string(),
  text: z.string(),
  html: z.string().nullable(),
  logo: PortalLogo.optional(),
  attachments: z.array(z.strictObject({ name: z.string(), content: z.string() })).optional(),
})
export type KeptMail = z.infer<typeof KeptMail>

/** Mails that are not sent: files that only the owner of the data directory can read. */
export type Mailbox = Mailer & {
  /** Newest first. */
  list(tenantId: string, most: number): Promise<KeptMail[]>
  find(tenantId: string, deliveryId: string): Promise<KeptMail | undefined>
  /**
   * Removes a mail, also one that a process left half written when it died. @returns whether there was one
   */
  remove(tenantId: string, deliveryId: string): Promise<boolean>
}

/**
 * Keeps mails as files, for an installation without a mail server.
 * @param directory created with the first mail
 */
export function createMailbox(directory: string): Mailbox {
  const folderOf = (tenantId: string) => join(directory, Slug.parse(tenantId))

  async function read(tenantId: string, file: string): Promise<KeptMail | undefined> {
    const text = await readFile(join(folderOf(tenantId), file), 'utf8').catch(ifAbsent(undefined))
    return text === undefined ? undefined : KeptMail.parse(JSON.parse(text))
  }

  return {
    async send(mail) {
      const folder = folderOf(mail.tenantId)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = join(folder, fileOf(mail.deliveryId))
      // Renamed into its place, so that a mail is never visible half written.
      const draft = `${file}.${process.pid}`
      await writeFile(draft, JSON.stringify(KeptMail.parse(mail), null, 2), { mode: 0o600 })
      await rename(draft, file)
      return { taken: true, status: null, answer: 'stored in the mailbox of this host' }
    },
    async list(tenantId, most) {
      const files = await readdir(folderOf(tenantId)).catch(ifAbsent([]))
      const dated = await Promise.all(
        files
          .filter((file) => file.endsWith('.json'))
          .map(async (file) => ({ file, at: (await stat(join(folderOf(tenantId), file))).mtimeMs })),
      )
      const newest = dated.sort((one, other) => other.at - one.at).slice(0, most)
      const mails = await Promise.all(newest.map(({ file }) => read(tenantId, file)))
      return mails.filter((mail) => mail !== undefined)
    },
    find: (tenantId, deliveryId) =>
      idPattern.test(deliveryId) ? read(tenantId, fileOf(deliveryId)) : Promise.resolve(undefined),
    async remove(tenantId, deliveryId) {
      const file = fileOf(deliveryId)
      const files = await readdir(folderOf(tenantId)).catch(ifAbsent([]))
      const own = files.filter((name) => name === file || name.startsWith(`${file}.`))
      for (const name of own) await rm(join(folderOf(tenantId), name), { force: true })
      return own.length > 0
    },
    async close() {},
  }
}

const idPattern = /^[a-z0-9_]{1,64}$/

/** @throws RangeError for an id that would lead to another file */
function fileOf(deliveryId: string): string {
  if (!idPattern.test(deliveryId)) throw new RangeError('not the id of a delivery')
  return `${deliveryId}.json`
}

/** Treats a missing file as empty; any other error is thrown. */
const ifAbsent =
  <T>(empty: T) =>
  (error: unknown): T => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return empty
    throw error
  }
