/**
 * How much slower than a quiet machine a run may be: `TEST_PATIENCE`, 1 or more, 1 where it is not set. It scales what a
 * test waits for at most. It changes nothing that a test asserts.
 */
export const patience = Math.max(1, Number(process.env['TEST_PATIENCE'] ?? 1) || 1)

/** A limit of a test in milliseconds, scaled by the patience of this run. */
export const patient = (limitMs: number): number => limitMs * patience

/** Limits as tests name them: behind their function, on its last line or on one of their own, or as the option `timeout`. */
const limits =
  /(^\s*\}, |^\s*(?:before|after)(?:All|Each)\(.*, |\btimeout: |^\s*(?=[\d_]+(?: \* times)?,\n))(\d[\d_]{4,})(?=\)$| \}|,$| \+|(?: \* times)?,\n\s*\)$)/gm

/** The text of a test file, the limits that its tests name scaled. */
export const scaleLimits = (code: string, by: number): string => code.replace(limits, `$1${by} * $2`)
