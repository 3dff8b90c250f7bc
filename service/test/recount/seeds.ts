const count = Number(process.env.RECOUNT_SCHEDULES ?? 40)
const first = Number(process.env.RECOUNT_FIRST ?? 1)

/** The schedules that are tried: the same few each time, or as many as the long form asks for. */
export const seeds = Array.from({ length: count }, (_, index) => first + index)
export const limit = 30_000 + count * 1_000

/** Schedules in which one of the two derivations was wrong before it was mended. */
export const schedulesThatDiffered = [
  35, 654, 776, 895, 1047, 2621, 3369, 4894, 5727, 5897, 6936, 9254, 6, 54, 1371, 534,
]
