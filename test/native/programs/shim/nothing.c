int nothing_at_all;
