import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ShownPortal } from '../../../projections/portal.ts'
import type { FilledForm } from '../forms/filled-form.ts'

/** Shows the page of the portal. */
export type ShowPortal = (
  request: FastifyRequest,
  reply: FastifyReply,
  portal: ShownPortal,
  more?: { form?: FilledForm; logoProblem?: string; languages?: FilledForm },
) => FastifyReply
