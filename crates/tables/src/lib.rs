//! Facts shared with C: options, infos, codes, schemes, exports, as rows. Data only.
