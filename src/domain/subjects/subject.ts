import type { Decider } from '../decider.ts'
import type { Erased, SubjectEvent } from './events.ts'

/** The erasure of a person of a tenant; `present` until an erasure is requested. */
export type Subject =
  | { status: 'present' }
  | { status: 'erasing'; tenantId: string; subjectId: string; begunAt: string }
  | {
      status: 'erased'
      tenantId: string
      subjectId: string
      begunAt: string
      erasedAt: string
      erased: Erased
    }

export type SubjectCommand =
  | { type: 'BeginErasure'; tenantId: string; subjectId: string; at: string }
  | { type: 'EndErasure'; erased: Erased; at: string }

export const presentSubject: Subject = { status: 'present' }

/** Returning no events means that the request was already true. */
export function decideSubject(subject: Subject, command: SubjectCommand): SubjectEvent[] {
  switch (command.type) {
    case 'BeginErasure': {
      if (subject.status !== 'present') return []
      const { type: _, ...data } = command
      return [{ type: 'ErasureBegun', data }]
    }
    case 'EndErasure':
      return subject.status === 'erasing'
        ? [{ type: 'SubjectErased', data: { ...command.erased, at: command.at } }]
        : []
  }
}

/** Never refuses: what is recorded has happened. */
export function evolveSubject(subject: Subject, event: SubjectEvent): Subject {
  switch (event.type) {
    case 'ErasureBegun': {
      const { at, ...data } = event.data
      return { ...data, status: 'erasing', begunAt: at }
    }
    case 'SubjectErased': {
      if (subject.status === 'present') return subject
      const { at, ...erased } = event.data
      return { ...subject, status: 'erased', erasedAt: at, erased }
    }
  }
}

/** The rules of subject streams, one for each person of a tenant. */
export const subjects: Decider<Subject, SubjectCommand, 'subject'> = {
  category: 'subject',
  initial: presentSubject,
  decide: decideSubject,
  evolve: evolveSubject,
}
