#ifndef CONCORD_SHIFTED_CLOCK_H
#define CONCORD_SHIFTED_CLOCK_H

/// The seconds by which the date of this process differs from that of the machine, as CONCORD_CLOCK_OFFSET said at its start.
long concord_clock_offset(void);

#endif
