"""Files and tables of any layout, read with Arrow: the door for data of one's own (`reading.read_transactions`)."""

from segshuffle.extras import require

require("data", "Reading a file of your own")
