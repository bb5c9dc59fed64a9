import type { FastifyReply } from 'fastify'

/** Of a shown mail: only its own styles, nothing else. */
const policy = (frames: string): string =>
  `default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors ${frames}; sandbox`

/**
 * Sends the HTML of a mail as a page of its own, in which nothing runs and which loads nothing.
 * @param inFrame whether a page of the dashboard shows it in a frame
 */
export const sendMailHtml = (reply: FastifyReply, html: string, inFrame = false): FastifyReply =>
  framed(reply, inFrame).type('text/html; charset=utf-8').send(html)

/** Sends the text of a mail, as {@link sendMailHtml} sends its HTML in a frame. */
export const sendMailText = (reply: FastifyReply, text: string): FastifyReply =>
  framed(reply, true).type('text/plain; charset=utf-8').send(text)

const framed = (reply: FastifyReply, inFrame: boolean): FastifyReply =>
  reply
    .header('content-security-policy', policy(inFrame ? "'self'" : "'none'"))
    .header('x-frame-options', inFrame ? 'SAMEORIGIN' : 'DENY')
