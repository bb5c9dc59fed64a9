import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Evidence } from '../../evidence/evidence.ts'

/** Streams the archive while it is written. */
export const sendArchive = (reply: FastifyReply, licenseId: string, { archive }: Evidence): FastifyReply =>
  reply
    .type('application/zip')
    .headers({
      'content-disposition': `attachment; filename="evidence-${licenseId}.zip"`,
    })
    .send(Readable.from(archive, { objectMode: false }))
