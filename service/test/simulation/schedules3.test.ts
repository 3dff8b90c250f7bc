import { describeSchedules } from './simulate.js'

describeSchedules(2)
