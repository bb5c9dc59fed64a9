import type { FastifyReply } from 'fastify'

/** Of a shown mail: only its own styles, nothing else. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

/**
 * Sends the HTML of a mail as a page of its own, in which nothing runs and which loads nothing.
 * @param inFrame whether a page of the dashboard shows it in a frame
 */
export const sendMailHtml = (reply: FastifyReply, html: string, inFrame = false): FastifyReply =>
  framed(reply, `${policy}; frame-ancestors ${inFrame ? "'self'" : "'none'"}`, inFrame)
    .type('text/html; charset=utf-8')
    .send(html)

/** Sends the text of a mail, as {@link sendMailHtml} sends its HTML in a frame. */
export const sendMailText = (reply: FastifyReply, text: string): FastifyReply =>
  framed(reply, `${policy}; frame-ancestors 'self'`, true).type('text/plain; charset=utf-8').send(text)

const framed = (reply: FastifyReply, contentPolicy: string, inFrame: boolean): FastifyReply =>
  reply
    .header('content-security-policy', contentPolicy)
    .header('x-frame-options', inFrame ? 'SAMEORIGIN' : 'DENY')
