"""Climate and field functions as methods of Xarray's accessor: written by tools/generate."""

from __future__ import annotations

from typing import Any

from cubed.xarray._calls import AUTO, call


class Functions:
    """Climate and field functions, by the names that CDO and expressions have."""

    _owner: Any

    def addtrend(self, intercept: Any, slope: Any, dim: str = "time") -> Any:
        """Elements plus a line: x + (intercept + slope * step), where `step` is the number of the
        time step, counted from 0.

        Parameters
        ----------
        intercept : DataArray or Dataset
            Value of the line at the first time, such as a result of trend_intercept.
        slope : DataArray or Dataset
            Change of the line per time step, such as a result of trend_slope.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "addtrend", (("intercept", intercept), ("slope", slope)), {"dim": dim}
        )

    def anomaly(
        self,
        groupby: str,
        dim: str = "time",
        reference: tuple[str, str] | None = None,
        skipna: bool | None = None,
    ) -> Any:
        """Elements minus the mean of their group of times, such as all Januaries.

        The means are computed from the times of a reference period, by default from all times.

        Parameters
        ----------
        groupby : str
            Component of the date that the times of a group share, such as "time.month".
        dim : str, default "time"
            Dimension of the times.
        reference : tuple of str or None
            First and last date of the times from which means are computed, such as ("1981",
            "2010"). None: all times.
        skipna : bool or None
            Whether missing values are skipped. None: they are skipped if x has a floating-point
            type.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "anomaly",
            (("groupby", groupby),),
            {"dim": dim, "reference": reference, "skipna": skipna},
        )

    def cold_spell_days(
        self, c: Any, days: int = 6, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Number of days in spells of at least `days` days below c, a percentile of each calendar
        day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        days : int, default 6
            Minimum length of a spell in days.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "cold_spell_days", (("c", c), ("days", days)), {"freq": freq, "dim": dim}
        )

    def cold_wave_days(
        self, c: Any, days: int = 6, degrees: float = 5, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Number of days in spells of at least `days` days that are more than `degrees` kelvins
        colder than c, the mean of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        days : int, default 6
            Minimum length of a spell in days.
        degrees : float, default 5
            Difference from c in kelvins, which each day of a spell exceeds.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "cold_wave_days",
            (("c", c), ("days", days), ("degrees", degrees)),
            {"freq": freq, "dim": dim},
        )

    def consecsum(self, dim: str = "time") -> Any:
        """Number of consecutive elements that are true or not 0, up to and including each element.

        A missing element counts as 0.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "consecsum", (), {"dim": dim})

    def consects(self, dim: str = "time") -> Any:
        """Length of each spell of consecutive elements that are true or not 0, at the last element
        of the spell.

        All other elements are missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "consects", (), {"dim": dim})

    def consecutive(self, dim: str = "time") -> Any:
        """Number of consecutive elements that are true or not 0, up to and including each element.

        A missing element counts as 0.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "consecutive", (), {"dim": dim})

    def consecutive_dry_days(
        self, threshold: float = 1, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Largest number of consecutive days with less than `threshold` mm of precipitation.

        Parameters
        ----------
        threshold : float, default 1
            Precipitation of a day in mm. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "consecutive_dry_days",
            (("threshold", threshold),),
            {"freq": freq, "dim": dim},
        )

    def consecutive_frost_days(self, freq: str | None = None, dim: str = "time") -> Any:
        """Largest number of consecutive days whose minimum temperature is below 0 degrees Celsius.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "consecutive_frost_days", (), {"freq": freq, "dim": dim})

    def consecutive_summer_days(
        self, threshold: float = 25, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Largest number of consecutive days whose maximum temperature is above `threshold` degrees
        Celsius.

        Parameters
        ----------
        threshold : float, default 25
            Temperature in degrees Celsius. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "consecutive_summer_days",
            (("threshold", threshold),),
            {"freq": freq, "dim": dim},
        )

    def consecutive_wet_days(
        self, threshold: float = 1, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Largest number of consecutive days with at least `threshold` mm of precipitation.

        Parameters
        ----------
        threshold : float, default 1
            Precipitation of a day in mm. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "consecutive_wet_days",
            (("threshold", threshold),),
            {"freq": freq, "dim": dim},
        )

    def date_part(self, part: str, dim: str = "time") -> Any:
        """A part of the date of each time, such as "month" or "dayofyear", as an array that
        broadcasts to x.

        Parameters
        ----------
        part : str
            Part of the dates, such as "year", "month", "dayofyear" or "hour".
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "date_part", (("part", part),), {"dim": dim})

    def dayadd(self, c: Any, dim: str = "time") -> Any:
        """Each element of x plus the element of c with the same date, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dayadd", (("c", c),), {"dim": dim})

    def dayavg(self, dim: str = "time") -> Any:
        """The mean of the elements of each day, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dayavg", (), {"dim": dim})

    def daycount(self, dim: str = "time") -> Any:
        """Number of elements on each day that are not missing, as in CDO.

        The number is missing if all elements are missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daycount", (), {"dim": dim})

    def daydiv(self, c: Any, dim: str = "time") -> Any:
        """Each element of x divided by the element of c with the same date, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daydiv", (("c", c),), {"dim": dim})

    def daymax(self, dim: str = "time") -> Any:
        """The maximum of the elements of each day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daymax", (), {"dim": dim})

    def daymean(self, dim: str = "time") -> Any:
        """The mean of the elements of each day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daymean", (), {"dim": dim})

    def daymin(self, dim: str = "time") -> Any:
        """The minimum of the elements of each day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daymin", (), {"dim": dim})

    def daymul(self, c: Any, dim: str = "time") -> Any:
        """Each element of x times the element of c with the same date, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daymul", (("c", c),), {"dim": dim})

    def daypctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of each day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daypctl", (("q", q),), {"dim": dim})

    def dayrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements on each day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dayrange", (), {"dim": dim})

    def days_in_month(self, dim: str = "time") -> Any:
        """The number of days in the month of each time, as an array that broadcasts to x.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "days_in_month", (), {"dim": dim})

    def days_in_year(self, dim: str = "time") -> Any:
        """The number of days in the year of each time, as an array that broadcasts to x.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "days_in_year", (), {"dim": dim})

    def daystd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daystd", (), {"dim": dim})

    def daystd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each day, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daystd1", (), {"dim": dim})

    def daysub(self, c: Any, dim: str = "time") -> Any:
        """Each element of x minus the element of c with the same date, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daysub", (("c", c),), {"dim": dim})

    def daysum(self, dim: str = "time") -> Any:
        """The sum of the elements of each day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "daysum", (), {"dim": dim})

    def dayvar(self, dim: str = "time") -> Any:
        """The variance of the elements of each day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dayvar", (), {"dim": dim})

    def dayvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of each day, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dayvar1", (), {"dim": dim})

    def del29feb(self, dim: str = "time") -> Any:
        """All times except those on February 29.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "del29feb", (), {"dim": dim})

    def delday(self, *day: Any, dim: str = "time") -> Any:
        """All times except those on these days.

        Days are numbers from 1 to 31, in each month, or days of the year such as "5mar".

        Parameters
        ----------
        *day : int or str
            Days of the month from 1 to 31, or days of the year such as "5mar".
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "delday", [("day", v) for v in day], {"dim": dim})

    def detrend(self, dim: str = "time") -> Any:
        """Elements minus the least-squares line of their series.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "detrend", (), {"dim": dim})

    def dhouravg(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same hour of the day, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhouravg", (), {"dim": dim})

    def dhourmax(self, dim: str = "time") -> Any:
        """The maximum of the elements of all times with the same hour of the day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourmax", (), {"dim": dim})

    def dhourmean(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same hour of the day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourmean", (), {"dim": dim})

    def dhourmin(self, dim: str = "time") -> Any:
        """The minimum of the elements of all times with the same hour of the day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourmin", (), {"dim": dim})

    def dhourpctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of all times with the same hour of the day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourpctl", (("q", q),), {"dim": dim})

    def dhourrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements of all times with the same hour of the day, as in
        CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourrange", (), {"dim": dim})

    def dhourstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same hour of the day, as in
        CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourstd", (), {"dim": dim})

    def dhourstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same hour of the day, as in
        CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourstd1", (), {"dim": dim})

    def dhoursum(self, dim: str = "time") -> Any:
        """The sum of the elements of all times with the same hour of the day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhoursum", (), {"dim": dim})

    def dhourvar(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same hour of the day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourvar", (), {"dim": dim})

    def dhourvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same hour of the day, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "dhourvar1", (), {"dim": dim})

    def divcoslat(self) -> Any:
        """Elements divided by the cosine of the latitude of their cell.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "divcoslat", (), {})

    def divdpm(self, dim: str = "time") -> Any:
        """Elements divided by the number of days in the month of their time, as in CDO.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "divdpm", (), {"dim": dim})

    def divdpy(self, dim: str = "time") -> Any:
        """Elements divided by the number of days in the year of their time, as in CDO.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "divdpy", (), {"dim": dim})

    def eca_cdd(self, threshold: float = 1, freq: str | None = None, dim: str = "time") -> Any:
        """Largest number of consecutive days with less than `threshold` mm of precipitation.

        Parameters
        ----------
        threshold : float, default 1
            Precipitation of a day in mm. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_cdd", (("threshold", threshold),), {"freq": freq, "dim": dim})

    def eca_cfd(self, freq: str | None = None, dim: str = "time") -> Any:
        """Largest number of consecutive days whose minimum temperature is below 0 degrees Celsius.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_cfd", (), {"freq": freq, "dim": dim})

    def eca_csu(self, threshold: float = 25, freq: str | None = None, dim: str = "time") -> Any:
        """Largest number of consecutive days whose maximum temperature is above `threshold` degrees
        Celsius.

        Parameters
        ----------
        threshold : float, default 25
            Temperature in degrees Celsius. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_csu", (("threshold", threshold),), {"freq": freq, "dim": dim})

    def eca_cwd(self, threshold: float = 1, freq: str | None = None, dim: str = "time") -> Any:
        """Largest number of consecutive days with at least `threshold` mm of precipitation.

        Parameters
        ----------
        threshold : float, default 1
            Precipitation of a day in mm. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_cwd", (("threshold", threshold),), {"freq": freq, "dim": dim})

    def eca_cwdi(
        self, c: Any, days: int = 6, degrees: float = 5, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Number of days in spells of at least `days` days that are more than `degrees` kelvins
        colder than c, the mean of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        days : int, default 6
            Minimum length of a spell in days.
        degrees : float, default 5
            Difference from c in kelvins, which each day of a spell exceeds.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "eca_cwdi",
            (("c", c), ("days", days), ("degrees", degrees)),
            {"freq": freq, "dim": dim},
        )

    def eca_cwfi(self, c: Any, days: int = 6, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days in spells of at least `days` days below c, a percentile of each calendar
        day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        days : int, default 6
            Minimum length of a spell in days.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_cwfi", (("c", c), ("days", days)), {"freq": freq, "dim": dim})

    def eca_etr(self, y: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Largest maximum temperature x minus the smallest minimum temperature y.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_etr", (("y", y),), {"freq": freq, "dim": dim})

    def eca_fd(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days whose minimum temperature is below 0 degrees Celsius.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_fd", (), {"freq": freq, "dim": dim})

    def eca_gsl(
        self,
        land: Any,
        days: int = 6,
        threshold: float = 5,
        fraction: float = 0.5,
        dim: str = "time",
    ) -> Any:
        """Length of the growing season of each year in days.

        It begins at the end of the first `days` days in a row above `threshold` degrees Celsius,
        and ends at the end of the first `days` days in a row below it in the second half of the
        season. In the southern hemisphere, seasons begin in July.

        Parameters
        ----------
        land : DataArray or Dataset
            Fraction of each cell that is land, from 0 to 1.
        days : int, default 6
            Minimum length of a spell in days.
        threshold : float, default 5
            Temperature in degrees Celsius. It is converted to the units of x.
        fraction : float, default 0.5
            Minimum land fraction of a cell that has a result.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "eca_gsl",
            (("land", land), ("days", days), ("threshold", threshold), ("fraction", fraction)),
            {"dim": dim},
        )

    def eca_hd(self, base: float = 17, freq: str | None = None, dim: str = "time") -> Any:
        """Sum of base - x over all days whose mean temperature x is below `base` degrees Celsius.

        Parameters
        ----------
        base : float, default 17
            Temperature in degrees Celsius. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_hd", (("base", base),), {"freq": freq, "dim": dim})

    def eca_hwdi(
        self, c: Any, days: int = 6, degrees: float = 5, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Number of days in spells of at least `days` days that are more than `degrees` kelvins
        warmer than c, the mean of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        days : int, default 6
            Minimum length of a spell in days.
        degrees : float, default 5
            Difference from c in kelvins, which each day of a spell exceeds.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "eca_hwdi",
            (("c", c), ("days", days), ("degrees", degrees)),
            {"freq": freq, "dim": dim},
        )

    def eca_hwfi(self, c: Any, days: int = 6, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days in spells of at least `days` days above c, a percentile of each calendar
        day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        days : int, default 6
            Minimum length of a spell in days.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_hwfi", (("c", c), ("days", days)), {"freq": freq, "dim": dim})

    def eca_id(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days whose maximum temperature is below 0 degrees Celsius.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_id", (), {"freq": freq, "dim": dim})

    def eca_r10mm(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with 10 mm or more of precipitation.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r10mm", (), {"freq": freq, "dim": dim})

    def eca_r1mm(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with 1 mm or more of precipitation.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r1mm", (), {"freq": freq, "dim": dim})

    def eca_r20mm(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with 20 mm or more of precipitation.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r20mm", (), {"freq": freq, "dim": dim})

    def eca_r75p(self, p: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days whose precipitation is at least 1 mm and above p, a percentile of the
        precipitation of wet days.

        Parameters
        ----------
        p : DataArray or Dataset
            Percentile of the precipitation of wet days, for each grid cell.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r75p", (("p", p),), {"freq": freq, "dim": dim})

    def eca_r75ptot(self, p: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of the total precipitation that falls on days whose precipitation is at least
        1 mm and above p, a percentile of the precipitation of wet days.

        Parameters
        ----------
        p : DataArray or Dataset
            Percentile of the precipitation of wet days, for each grid cell.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r75ptot", (("p", p),), {"freq": freq, "dim": dim})

    def eca_r90p(self, p: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days whose precipitation is at least 1 mm and above p, a percentile of the
        precipitation of wet days.

        Parameters
        ----------
        p : DataArray or Dataset
            Percentile of the precipitation of wet days, for each grid cell.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r90p", (("p", p),), {"freq": freq, "dim": dim})

    def eca_r90ptot(self, p: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of the total precipitation that falls on days whose precipitation is at least
        1 mm and above p, a percentile of the precipitation of wet days.

        Parameters
        ----------
        p : DataArray or Dataset
            Percentile of the precipitation of wet days, for each grid cell.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r90ptot", (("p", p),), {"freq": freq, "dim": dim})

    def eca_r95p(self, p: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days whose precipitation is at least 1 mm and above p, a percentile of the
        precipitation of wet days.

        Parameters
        ----------
        p : DataArray or Dataset
            Percentile of the precipitation of wet days, for each grid cell.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r95p", (("p", p),), {"freq": freq, "dim": dim})

    def eca_r95ptot(self, p: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of the total precipitation that falls on days whose precipitation is at least
        1 mm and above p, a percentile of the precipitation of wet days.

        Parameters
        ----------
        p : DataArray or Dataset
            Percentile of the precipitation of wet days, for each grid cell.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r95ptot", (("p", p),), {"freq": freq, "dim": dim})

    def eca_r99p(self, p: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days whose precipitation is at least 1 mm and above p, a percentile of the
        precipitation of wet days.

        Parameters
        ----------
        p : DataArray or Dataset
            Percentile of the precipitation of wet days, for each grid cell.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r99p", (("p", p),), {"freq": freq, "dim": dim})

    def eca_r99ptot(self, p: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of the total precipitation that falls on days whose precipitation is at least
        1 mm and above p, a percentile of the precipitation of wet days.

        Parameters
        ----------
        p : DataArray or Dataset
            Percentile of the precipitation of wet days, for each grid cell.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_r99ptot", (("p", p),), {"freq": freq, "dim": dim})

    def eca_rr1(self, threshold: float = 1, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with at least `threshold` mm of precipitation.

        Parameters
        ----------
        threshold : float, default 1
            Precipitation of a day in mm. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_rr1", (("threshold", threshold),), {"freq": freq, "dim": dim})

    def eca_rx1day(self, freq: str | None = None, dim: str = "time") -> Any:
        """Largest precipitation of one day.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_rx1day", (), {"freq": freq, "dim": dim})

    def eca_rx5day(self, freq: str | None = None, dim: str = "time") -> Any:
        """Largest element of x, which holds sums of precipitation over five days, as in CDO.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_rx5day", (), {"freq": freq, "dim": dim})

    def eca_sdii(self, threshold: float = 1, freq: str | None = None, dim: str = "time") -> Any:
        """Mean precipitation of the days with at least `threshold` mm of precipitation.

        Parameters
        ----------
        threshold : float, default 1
            Precipitation of a day in mm. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "eca_sdii", (("threshold", threshold),), {"freq": freq, "dim": dim}
        )

    def eca_su(self, threshold: float = 25, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days whose maximum temperature is above `threshold` degrees Celsius.

        Parameters
        ----------
        threshold : float, default 25
            Temperature in degrees Celsius. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_su", (("threshold", threshold),), {"freq": freq, "dim": dim})

    def eca_tg10p(self, c: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days on which x is below c, a percentile of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_tg10p", (("c", c),), {"freq": freq, "dim": dim})

    def eca_tg90p(self, c: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days on which x is above c, a percentile of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_tg90p", (("c", c),), {"freq": freq, "dim": dim})

    def eca_tn10p(self, c: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days on which x is below c, a percentile of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_tn10p", (("c", c),), {"freq": freq, "dim": dim})

    def eca_tn90p(self, c: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days on which x is above c, a percentile of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_tn90p", (("c", c),), {"freq": freq, "dim": dim})

    def eca_tr(self, threshold: float = 20, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days whose minimum temperature is above `threshold` degrees Celsius.

        Parameters
        ----------
        threshold : float, default 20
            Temperature in degrees Celsius. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_tr", (("threshold", threshold),), {"freq": freq, "dim": dim})

    def eca_tx10p(self, c: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days on which x is below c, a percentile of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_tx10p", (("c", c),), {"freq": freq, "dim": dim})

    def eca_tx90p(self, c: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Percentage of days on which x is above c, a percentile of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eca_tx90p", (("c", c),), {"freq": freq, "dim": dim})

    def eq(self, y: Any) -> Any:
        """1 where x == y, 0 where not, and missing where x or y is missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "eq", (("y", y),), {})

    def extreme_temperature_range(self, y: Any, freq: str | None = None, dim: str = "time") -> Any:
        """Largest maximum temperature x minus the smallest minimum temperature y.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "extreme_temperature_range", (("y", y),), {"freq": freq, "dim": dim}
        )

    def fldcor(self, y: Any) -> Any:
        """Correlation of two fields, weighted by area, over the cells where both have values.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldcor", (("y", y),), {})

    def fldcount(self) -> Any:
        """Number of elements of the field that are not missing, as in CDO.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldcount", (), {})

    def fldcovar(self, y: Any) -> Any:
        """Covariance of two fields, weighted by area, over the cells where both have values.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldcovar", (("y", y),), {})

    def fldkurt(self) -> Any:
        """Excess kurtosis (kurtosis minus 3) of the elements of the field, all with the same
        weight, as in CDO.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldkurt", (), {})

    def fldmedian(self) -> Any:
        """Median of the elements of the field.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldmedian", (), {})

    def fldrms(self, y: Any) -> Any:
        """Root mean square of the difference of two fields, weighted by area, over the cells where
        both have values.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldrms", (("y", y),), {})

    def fldskew(self) -> Any:
        """Skewness of the elements of the field, all with the same weight, as in CDO: the mean cube
        of their deviations from the mean, divided by the cube of the sample standard deviation.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldskew", (), {})

    def frost_days(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days whose minimum temperature is below 0 degrees Celsius.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "frost_days", (), {"freq": freq, "dim": dim})

    def ge(self, y: Any) -> Any:
        """1 where x >= y, 0 where not, and missing where x or y is missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ge", (("y", y),), {})

    def growing_season_length(
        self,
        land: Any,
        days: int = 6,
        threshold: float = 5,
        fraction: float = 0.5,
        dim: str = "time",
    ) -> Any:
        """Length of the growing season of each year in days.

        It begins at the end of the first `days` days in a row above `threshold` degrees Celsius,
        and ends at the end of the first `days` days in a row below it in the second half of the
        season. In the southern hemisphere, seasons begin in July.

        Parameters
        ----------
        land : DataArray or Dataset
            Fraction of each cell that is land, from 0 to 1.
        days : int, default 6
            Minimum length of a spell in days.
        threshold : float, default 5
            Temperature in degrees Celsius. It is converted to the units of x.
        fraction : float, default 0.5
            Minimum land fraction of a cell that has a result.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "growing_season_length",
            (("land", land), ("days", days), ("threshold", threshold), ("fraction", fraction)),
            {"dim": dim},
        )

    def growing_season_start(
        self,
        land: Any,
        days: int = 6,
        threshold: float = 5,
        fraction: float = 0.5,
        dim: str = "time",
    ) -> Any:
        """Day of the year on which the growing season of eca_gsl begins: the last of the first
        `days` days in a row above `threshold` degrees Celsius.

        Parameters
        ----------
        land : DataArray or Dataset
            Fraction of each cell that is land, from 0 to 1.
        days : int, default 6
            Minimum length of a spell in days.
        threshold : float, default 5
            Temperature in degrees Celsius. It is converted to the units of x.
        fraction : float, default 0.5
            Minimum land fraction of a cell that has a result.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "growing_season_start",
            (("land", land), ("days", days), ("threshold", threshold), ("fraction", fraction)),
            {"dim": dim},
        )

    def gt(self, y: Any) -> Any:
        """1 where x > y, 0 where not, and missing where x or y is missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "gt", (("y", y),), {})

    def heat_wave_days(
        self, c: Any, days: int = 6, degrees: float = 5, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Number of days in spells of at least `days` days that are more than `degrees` kelvins
        warmer than c, the mean of each calendar day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        days : int, default 6
            Minimum length of a spell in days.
        degrees : float, default 5
            Difference from c in kelvins, which each day of a spell exceeds.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "heat_wave_days",
            (("c", c), ("days", days), ("degrees", degrees)),
            {"freq": freq, "dim": dim},
        )

    def heating_degree_days(
        self, base: float = 17, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Sum of base - x over all days whose mean temperature x is below `base` degrees Celsius.

        Parameters
        ----------
        base : float, default 17
            Temperature in degrees Celsius. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "heating_degree_days", (("base", base),), {"freq": freq, "dim": dim}
        )

    def heavy_precipitation_days(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with 10 mm or more of precipitation.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "heavy_precipitation_days", (), {"freq": freq, "dim": dim})

    def highest_five_day_precipitation(self, freq: str | None = None, dim: str = "time") -> Any:
        """Largest precipitation of five consecutive days.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "highest_five_day_precipitation", (), {"freq": freq, "dim": dim})

    def highest_one_day_precipitation(self, freq: str | None = None, dim: str = "time") -> Any:
        """Largest precipitation of one day.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "highest_one_day_precipitation", (), {"freq": freq, "dim": dim})

    def houravg(self, dim: str = "time") -> Any:
        """The mean of the elements of each hour, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "houravg", (), {"dim": dim})

    def hourcount(self, dim: str = "time") -> Any:
        """Number of elements in each hour that are not missing, as in CDO.

        The number is missing if all elements are missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourcount", (), {"dim": dim})

    def hourmax(self, dim: str = "time") -> Any:
        """The maximum of the elements of each hour, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourmax", (), {"dim": dim})

    def hourmean(self, dim: str = "time") -> Any:
        """The mean of the elements of each hour, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourmean", (), {"dim": dim})

    def hourmin(self, dim: str = "time") -> Any:
        """The minimum of the elements of each hour, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourmin", (), {"dim": dim})

    def hourpctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of each hour, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourpctl", (("q", q),), {"dim": dim})

    def hourrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements in each hour, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourrange", (), {"dim": dim})

    def hourstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each hour, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourstd", (), {"dim": dim})

    def hourstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each hour, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourstd1", (), {"dim": dim})

    def hoursum(self, dim: str = "time") -> Any:
        """The sum of the elements of each hour, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hoursum", (), {"dim": dim})

    def hourvar(self, dim: str = "time") -> Any:
        """The variance of the elements of each hour, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourvar", (), {"dim": dim})

    def hourvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of each hour, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hourvar1", (), {"dim": dim})

    def hurr(self, speed: float = 32.5, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with a wind of hurricane force: the maximum wind speed x of the day, in m
        s-1, is at least `speed`.

        Parameters
        ----------
        speed : float, default 32.5
            Wind speed in the units of x, which should be m s-1.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "hurr", (("speed", speed),), {"freq": freq, "dim": dim})

    def ice_days(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days whose maximum temperature is below 0 degrees Celsius.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ice_days", (), {"freq": freq, "dim": dim})

    def ifnotthen(self, y: Any) -> Any:
        """Elements of y where the mask x is 0.

        All other elements are missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ifnotthen", (("y", y),), {})

    def ifnotthenc(self, value: float) -> Any:
        """The number `value` where x is 0.

        All other elements are missing.

        Parameters
        ----------
        value : float
            New value of the elements.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ifnotthenc", (("value", value),), {})

    def ifthen(self, y: Any) -> Any:
        """Elements of y where the mask x is not 0.

        All other elements are missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ifthen", (("y", y),), {})

    def ifthenc(self, value: float) -> Any:
        """The number `value` where x is not 0.

        All other elements are missing.

        Parameters
        ----------
        value : float
            New value of the elements.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ifthenc", (("value", value),), {})

    def ifthenelse(self, y: Any, z: Any) -> Any:
        """Elements of y where the mask x is not 0, and elements of z where x is 0.

        The result is missing where x is missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.
        z : DataArray or Dataset
            Third array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ifthenelse", (("y", y), ("z", z)), {})

    def invertlat(self) -> Any:
        """The elements in the reverse order of latitudes.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "invertlat", (), {})

    def invertlev(self) -> Any:
        """The elements in the reverse order of levels.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "invertlev", (), {})

    def invertlon(self) -> Any:
        """The elements in the reverse order of longitudes.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "invertlon", (), {})

    def lag(self, steps: int = 1, dim: str = "time") -> Any:
        """The element `steps` time steps before each element, or after it if `steps` is negative.

        The result is missing where there is no such time step.

        Parameters
        ----------
        steps : int, default 1
            Number of time steps.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "lag", (("steps", steps),), {"dim": dim})

    def le(self, y: Any) -> Any:
        """1 where x <= y, 0 where not, and missing where x or y is missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "le", (("y", y),), {})

    def lt(self, y: Any) -> Any:
        """1 where x < y, 0 where not, and missing where x or y is missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "lt", (("y", y),), {})

    def maskindexbox(self, x1: int, x2: int, y1: int, y2: int) -> Any:
        """Elements in a box of columns and rows, which are counted from 1.

        Elements outside of the box become missing.

        Parameters
        ----------
        x1 : int
            First column of the box, counted from 1. If it is greater than the last column, the box
            wraps around.
        x2 : int
            Last column of the box.
        y1 : int
            First row of the box, counted from 1.
        y2 : int
            Last row of the box.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "maskindexbox", (("x1", x1), ("x2", x2), ("y1", y1), ("y2", y2)), {}
        )

    def masklonlatbox(self, west: float, east: float, south: float, north: float) -> Any:
        """Elements in a box of longitudes and latitudes.

        Elements outside of the box become missing.

        Parameters
        ----------
        west : float
            Western longitude of the box in degrees. It may be greater than the eastern longitude.
        east : float
            Eastern longitude of the box in degrees.
        south : float
            Southern latitude of the box in degrees.
        north : float
            Northern latitude of the box in degrees.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "masklonlatbox",
            (("west", west), ("east", east), ("south", south), ("north", north)),
            {},
        )

    def merkurt(self) -> Any:
        """Excess kurtosis (kurtosis minus 3) of the elements of each column of latitudes, all with
        the same weight, as in CDO.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "merkurt", (), {})

    def mermedian(self) -> Any:
        """Median of the elements of each column of latitudes.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "mermedian", (), {})

    def merskew(self) -> Any:
        """Skewness of the elements of each column of latitudes, all with the same weight, as in
        CDO: the mean cube of their deviations from the mean, divided by the cube of the sample
        standard deviation.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "merskew", (), {})

    def monadd(self, c: Any, dim: str = "time") -> Any:
        """Each element of x plus the element of c with the same month and year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monadd", (("c", c),), {"dim": dim})

    def monavg(self, dim: str = "time") -> Any:
        """The mean of the elements of each month, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monavg", (), {"dim": dim})

    def moncount(self, dim: str = "time") -> Any:
        """Number of elements in each month that are not missing, as in CDO.

        The number is missing if all elements are missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "moncount", (), {"dim": dim})

    def mondiv(self, c: Any, dim: str = "time") -> Any:
        """Each element of x divided by the element of c with the same month and year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "mondiv", (("c", c),), {"dim": dim})

    def monmax(self, dim: str = "time") -> Any:
        """The maximum of the elements of each month, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monmax", (), {"dim": dim})

    def monmean(self, dim: str = "time") -> Any:
        """The mean of the elements of each month, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monmean", (), {"dim": dim})

    def monmin(self, dim: str = "time") -> Any:
        """The minimum of the elements of each month, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monmin", (), {"dim": dim})

    def monmul(self, c: Any, dim: str = "time") -> Any:
        """Each element of x times the element of c with the same month and year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monmul", (("c", c),), {"dim": dim})

    def monpctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of each month, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monpctl", (("q", q),), {"dim": dim})

    def monrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements in each month, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monrange", (), {"dim": dim})

    def monstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each month, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monstd", (), {"dim": dim})

    def monstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each month, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monstd1", (), {"dim": dim})

    def monsub(self, c: Any, dim: str = "time") -> Any:
        """Each element of x minus the element of c with the same month and year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monsub", (("c", c),), {"dim": dim})

    def monsum(self, dim: str = "time") -> Any:
        """The sum of the elements of each month, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monsum", (), {"dim": dim})

    def monvar(self, dim: str = "time") -> Any:
        """The variance of the elements of each month, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monvar", (), {"dim": dim})

    def monvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of each month, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "monvar1", (), {"dim": dim})

    def mulcoslat(self) -> Any:
        """Elements times the cosine of the latitude of their cell.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "mulcoslat", (), {})

    def muldpm(self, dim: str = "time") -> Any:
        """Elements times the number of days in the month of their time, as in CDO.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "muldpm", (), {"dim": dim})

    def muldpy(self, dim: str = "time") -> Any:
        """Elements times the number of days in the year of their time, as in CDO.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "muldpy", (), {"dim": dim})

    def ne(self, y: Any) -> Any:
        """1 where x != y, 0 where not, and missing where x or y is missing.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ne", (("y", y),), {})

    def regres(self, dim: str = "time") -> Any:
        """Slope of the least-squares line of each series, per time step.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "regres", (), {"dim": dim})

    def runavg(self, length: int, dim: str = "time") -> Any:
        """The mean of the elements in windows of `length` times, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runavg", (("length", length),), {"dim": dim})

    def runmax(self, length: int, dim: str = "time") -> Any:
        """The maximum of the elements in windows of `length` times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runmax", (("length", length),), {"dim": dim})

    def runmean(self, length: int, dim: str = "time") -> Any:
        """The mean of the elements in windows of `length` times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runmean", (("length", length),), {"dim": dim})

    def runmin(self, length: int, dim: str = "time") -> Any:
        """The minimum of the elements in windows of `length` times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runmin", (("length", length),), {"dim": dim})

    def runpctl(self, q: Any, length: int, dim: str = "time") -> Any:
        """Percentiles of the elements in windows of `length` times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runpctl", (("q", q), ("length", length)), {"dim": dim})

    def runrange(self, length: int, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements in windows of `length` times, as in CDO.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runrange", (("length", length),), {"dim": dim})

    def runstd(self, length: int, dim: str = "time") -> Any:
        """The standard deviation of the elements in windows of `length` times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runstd", (("length", length),), {"dim": dim})

    def runstd1(self, length: int, dim: str = "time") -> Any:
        """The standard deviation of the elements in windows of `length` times, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runstd1", (("length", length),), {"dim": dim})

    def runsum(self, length: int, dim: str = "time") -> Any:
        """The sum of the elements in windows of `length` times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runsum", (("length", length),), {"dim": dim})

    def runvar(self, length: int, dim: str = "time") -> Any:
        """The variance of the elements in windows of `length` times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runvar", (("length", length),), {"dim": dim})

    def runvar1(self, length: int, dim: str = "time") -> Any:
        """The variance of the elements in windows of `length` times, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "runvar1", (("length", length),), {"dim": dim})

    def seasavg(self, dim: str = "time") -> Any:
        """The mean of the elements of each season, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasavg", (), {"dim": dim})

    def seascount(self, dim: str = "time") -> Any:
        """Number of elements in each season that are not missing, as in CDO.

        The number is missing if all elements are missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seascount", (), {"dim": dim})

    def seasmax(self, dim: str = "time") -> Any:
        """The maximum of the elements of each season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasmax", (), {"dim": dim})

    def seasmean(self, dim: str = "time") -> Any:
        """The mean of the elements of each season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasmean", (), {"dim": dim})

    def seasmin(self, dim: str = "time") -> Any:
        """The minimum of the elements of each season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasmin", (), {"dim": dim})

    def seasmonavg(self, dim: str = "time") -> Any:
        """Seasonal means of monthly values, weighted by the lengths of months.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasmonavg", (), {"dim": dim})

    def seasmonmean(self, dim: str = "time") -> Any:
        """Seasonal means of monthly values, weighted by the lengths of months.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasmonmean", (), {"dim": dim})

    def seaspctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of each season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seaspctl", (("q", q),), {"dim": dim})

    def seasrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements in each season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasrange", (), {"dim": dim})

    def seasstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasstd", (), {"dim": dim})

    def seasstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each season, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasstd1", (), {"dim": dim})

    def seassum(self, dim: str = "time") -> Any:
        """The sum of the elements of each season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seassum", (), {"dim": dim})

    def seasvar(self, dim: str = "time") -> Any:
        """The variance of the elements of each season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasvar", (), {"dim": dim})

    def seasvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of each season, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seasvar1", (), {"dim": dim})

    def seldate(self, first: Any, last: Any = None, dim: str = "time") -> Any:
        """The times from the beginning of the first date to the end of the last one.

        Dates are in quotes: "2000-01-15", "2000-01" or "2000".

        Parameters
        ----------
        first : str or date
            First date: "2000-01-15", "2000-01" or "2000".
        last : str, date or None
            Last date, whose whole day, month or year is included. None: the same as `first`.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seldate", (("first", first), ("last", last)), {"dim": dim})

    def selday(self, *day: Any, dim: str = "time") -> Any:
        """The times whose day is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *day : int, tuple of int or list of int
            Days of the month, ranges such as (1, 7), or lists of them.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "selday", [("day", v) for v in day], {"dim": dim})

    def select_date(self, first: Any, last: Any = None, dim: str = "time") -> Any:
        """The times from the beginning of the first date to the end of the last one.

        Dates are in quotes: "2000-01-15", "2000-01" or "2000".

        Parameters
        ----------
        first : str or date
            First date: "2000-01-15", "2000-01" or "2000".
        last : str, date or None
            Last date, whose whole day, month or year is included. None: the same as `first`.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "select_date", (("first", first), ("last", last)), {"dim": dim})

    def select_day(self, *day: Any, dim: str = "time") -> Any:
        """The times whose day is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *day : int, tuple of int or list of int
            Days of the month, ranges such as (1, 7), or lists of them.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "select_day", [("day", v) for v in day], {"dim": dim})

    def select_hour(self, *hour: Any, dim: str = "time") -> Any:
        """The times whose hour is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *hour : int, tuple of int or list of int
            Hours, ranges such as (6, 18), or lists of them.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "select_hour", [("hour", v) for v in hour], {"dim": dim})

    def select_month(self, *month: Any, dim: str = "time") -> Any:
        """The times whose month is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *month : int, tuple of int or list of int
            Numbers of months, ranges such as (6, 8), or lists such as [1, 12].
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "select_month", [("month", v) for v in month], {"dim": dim})

    def select_season(self, *season: Any, dim: str = "time") -> Any:
        """The times in these seasons.

        Parameters
        ----------
        *season : str
            Initials of 3 to 12 months, such as "DJF", or "ANN".
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "select_season", [("season", v) for v in season], {"dim": dim})

    def select_year(self, *year: Any, dim: str = "time") -> Any:
        """The times whose year is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *year : int, tuple of int or list of int
            Years, ranges such as (1981, 2010), or lists of them.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "select_year", [("year", v) for v in year], {"dim": dim})

    def selhour(self, *hour: Any, dim: str = "time") -> Any:
        """The times whose hour is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *hour : int, tuple of int or list of int
            Hours, ranges such as (6, 18), or lists of them.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "selhour", [("hour", v) for v in hour], {"dim": dim})

    def sellonlatbox(self, west: float, east: float, south: float, north: float) -> Any:
        """The elements in a box of longitudes and latitudes.

        Longitude and latitude must be axes of x.

        Parameters
        ----------
        west : float
            Western longitude of the box in degrees. It may be greater than the eastern longitude.
        east : float
            Eastern longitude of the box in degrees.
        south : float
            Southern latitude of the box in degrees.
        north : float
            Northern latitude of the box in degrees.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "sellonlatbox",
            (("west", west), ("east", east), ("south", south), ("north", north)),
            {},
        )

    def selmon(self, *month: Any, dim: str = "time") -> Any:
        """The times whose month is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *month : int, tuple of int or list of int
            Numbers of months, ranges such as (6, 8), or lists such as [1, 12].
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "selmon", [("month", v) for v in month], {"dim": dim})

    def selmonth(self, *month: Any, dim: str = "time") -> Any:
        """The times whose month is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *month : int, tuple of int or list of int
            Numbers of months, ranges such as (6, 8), or lists such as [1, 12].
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "selmonth", [("month", v) for v in month], {"dim": dim})

    def selseas(self, *season: Any, dim: str = "time") -> Any:
        """The times in these seasons.

        Parameters
        ----------
        *season : str
            Initials of 3 to 12 months, such as "DJF", or "ANN".
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "selseas", [("season", v) for v in season], {"dim": dim})

    def selseason(self, *season: Any, dim: str = "time") -> Any:
        """The times in these seasons.

        Parameters
        ----------
        *season : str
            Initials of 3 to 12 months, such as "DJF", or "ANN".
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "selseason", [("season", v) for v in season], {"dim": dim})

    def selsmon(
        self, month: Any, before: int = 0, after: int | None = None, dim: str = "time"
    ) -> Any:
        """The times in one month of each year, with `before` time steps before it and `after` time
        steps after it.

        Parameters
        ----------
        month : int, tuple of int or list of int
            Numbers of months, ranges such as (6, 8), or lists such as [1, 12].
        before : int, default 0
            Number of time steps before the month.
        after : int or None
            Number of time steps after the month. None: the same number as `before`.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "selsmon",
            (("month", month), ("before", before), ("after", after)),
            {"dim": dim},
        )

    def seltime(self, *time: Any, dim: str = "time") -> Any:
        """The elements at these times of day.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *time : str, or tuple of str
            Times of day such as "06:00", or ranges of them.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "seltime", [("time", v) for v in time], {"dim": dim})

    def selyear(self, *year: Any, dim: str = "time") -> Any:
        """The times whose year is one of the arguments.

        A pair is a range, which includes both ends.

        Parameters
        ----------
        *year : int, tuple of int or list of int
            Years, ranges such as (1981, 2010), or lists of them.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "selyear", [("year", v) for v in year], {"dim": dim})

    def setcindexbox(self, value: float, x1: int, x2: int, y1: int, y2: int) -> Any:
        """The elements, except that all elements in a box of columns and rows, which are counted
        from 1, are replaced by one value.

        Parameters
        ----------
        value : float
            New value of the elements.
        x1 : int
            First column of the box, counted from 1. If it is greater than the last column, the box
            wraps around.
        x2 : int
            Last column of the box.
        y1 : int
            First row of the box, counted from 1.
        y2 : int
            Last row of the box.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "setcindexbox",
            (("value", value), ("x1", x1), ("x2", x2), ("y1", y1), ("y2", y2)),
            {},
        )

    def setclonlatbox(
        self, value: float, west: float, east: float, south: float, north: float
    ) -> Any:
        """The elements, except that all elements in a box of longitudes and latitudes are replaced
        by one value.

        Parameters
        ----------
        value : float
            New value of the elements.
        west : float
            Western longitude of the box in degrees. It may be greater than the eastern longitude.
        east : float
            Eastern longitude of the box in degrees.
        south : float
            Southern latitude of the box in degrees.
        north : float
            Northern latitude of the box in degrees.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "setclonlatbox",
            (("value", value), ("west", west), ("east", east), ("south", south), ("north", north)),
            {},
        )

    def spell_lengths(self, dim: str = "time") -> Any:
        """Length of each spell of consecutive elements that are true or not 0, at the last element
        of the spell.

        All other elements are missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "spell_lengths", (), {"dim": dim})

    def strbre(self, speed: float = 10.5, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with a strong breeze: the maximum wind speed x of the day, in m s-1, is at
        least `speed`.

        Parameters
        ----------
        speed : float, default 10.5
            Wind speed in the units of x, which should be m s-1.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "strbre", (("speed", speed),), {"freq": freq, "dim": dim})

    def strgal(self, speed: float = 20.5, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with a strong gale: the maximum wind speed x of the day, in m s-1, is at
        least `speed`.

        Parameters
        ----------
        speed : float, default 20.5
            Wind speed in the units of x, which should be m s-1.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "strgal", (("speed", speed),), {"freq": freq, "dim": dim})

    def strwin(self, speed: float = 10.5, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with a strong wind: the maximum wind speed x of the day, in m s-1, is at
        least `speed`.

        Parameters
        ----------
        speed : float, default 10.5
            Wind speed in the units of x, which should be m s-1.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "strwin", (("speed", speed),), {"freq": freq, "dim": dim})

    def subtrend(self, intercept: Any, slope: Any, dim: str = "time") -> Any:
        """Elements minus a line: x - (intercept + slope * step), where `step` is the number of the
        time step, counted from 0.

        Parameters
        ----------
        intercept : DataArray or Dataset
            Value of the line at the first time, such as a result of trend_intercept.
        slope : DataArray or Dataset
            Change of the line per time step, such as a result of trend_slope.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "subtrend", (("intercept", intercept), ("slope", slope)), {"dim": dim}
        )

    def summer_days(self, threshold: float = 25, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days whose maximum temperature is above `threshold` degrees Celsius.

        Parameters
        ----------
        threshold : float, default 25
            Temperature in degrees Celsius. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "summer_days", (("threshold", threshold),), {"freq": freq, "dim": dim}
        )

    def timavg(self, dim: str = "time") -> Any:
        """The mean of the elements at all times, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timavg", (), {"dim": dim})

    def timcor(self, y: Any, dim: str = "time") -> Any:
        """Correlation of two series, over the times at which both have values.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timcor", (("y", y),), {"dim": dim})

    def timcount(self, dim: str = "time") -> Any:
        """Number of elements at all times that are not missing, as in CDO.

        The number is missing if all elements are missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timcount", (), {"dim": dim})

    def timcovar(self, y: Any, dim: str = "time") -> Any:
        """Covariance of two series, over the times at which both have values.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timcovar", (("y", y),), {"dim": dim})

    def timcumsum(self, dim: str = "time") -> Any:
        """Sum of the elements up to and including each time.

        A missing element counts as 0, as in CDO.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timcumsum", (), {"dim": dim})

    def time_steps(self, freq: str | None = None, dim: str = "time") -> Any:
        """The number of each time step, counted from 0, as an array that broadcasts to x.

        With a frequency such as "YS" or "YS-JUL", each interval begins with 0.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "time_steps", (), {"freq": freq, "dim": dim})

    def timmax(self, dim: str = "time") -> Any:
        """The maximum of the elements at all times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timmax", (), {"dim": dim})

    def timmean(self, dim: str = "time") -> Any:
        """The mean of the elements at all times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timmean", (), {"dim": dim})

    def timmin(self, dim: str = "time") -> Any:
        """The minimum of the elements at all times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timmin", (), {"dim": dim})

    def timpctl(self, q: float, dim: str = "time") -> Any:
        """The percentile q, from 0 to 100, of the elements at all times, by the method "nearest
        rank" of CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float
            Percentile, from 0 to 100.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timpctl", (("q", q),), {"dim": dim})

    def timrange(self, dim: str = "time") -> Any:
        """The maximum minus the minimum of the elements at all times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timrange", (), {"dim": dim})

    def timrmsd(self, y: Any, dim: str = "time") -> Any:
        """Root mean square of the difference of two series, over the times at which both have
        values.

        Parameters
        ----------
        y : DataArray or Dataset
            Second array, with the dimensions of x.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timrmsd", (("y", y),), {"dim": dim})

    def timselavg(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The mean of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        make the result missing.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselavg",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselmax(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The maximum of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselmax",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselmean(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The mean of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselmean",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselmin(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The minimum of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselmin",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselpctl(
        self, q: Any, length: int, offset: int = 0, skip: int = 0, dim: str = "time"
    ) -> Any:
        """Percentiles of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselpctl",
            (("q", q), ("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselrange(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """Maximum minus minimum of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselrange",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselstd(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The standard deviation of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselstd",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselstd1(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The standard deviation of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped. The divisor is n - 1.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselstd1",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselsum(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The sum of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselsum",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselvar(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The variance of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselvar",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timselvar1(self, length: int, offset: int = 0, skip: int = 0, dim: str = "time") -> Any:
        """The variance of each set of `length` successive times, as in CDO.

        The first `offset` times, and `skip` times between two sets, are left out. Missing values
        are skipped. The divisor is n - 1.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        offset : int, default 0
            Number of times before the first set.
        skip : int, default 0
            Number of times between two sets.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "timselvar1",
            (("length", length), ("offset", offset), ("skip", skip)),
            {"dim": dim},
        )

    def timstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements at all times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timstd", (), {"dim": dim})

    def timstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements at all times, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timstd1", (), {"dim": dim})

    def timsum(self, dim: str = "time") -> Any:
        """The sum of the elements at all times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timsum", (), {"dim": dim})

    def timvar(self, dim: str = "time") -> Any:
        """The variance of the elements at all times, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timvar", (), {"dim": dim})

    def timvar1(self, dim: str = "time") -> Any:
        """The variance of the elements at all times, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "timvar1", (), {"dim": dim})

    def trend_intercept(self, dim: str = "time") -> Any:
        """Value of the least-squares line of each series at the first time.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "trend_intercept", (), {"dim": dim})

    def trend_pvalue(self, dim: str = "time") -> Any:
        """Two-sided p-value of the slope of the least-squares line, by Student's t test of the
        hypothesis that there is no trend.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "trend_pvalue", (), {"dim": dim})

    def trend_slope(self, dim: str = "time") -> Any:
        """Slope of the least-squares line of each series, per time step.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "trend_slope", (), {"dim": dim})

    def trend_stderr(self, dim: str = "time") -> Any:
        """Standard error of the slope of the least-squares line, per time step.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "trend_stderr", (), {"dim": dim})

    def tropical_nights(
        self, threshold: float = 20, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Number of days whose minimum temperature is above `threshold` degrees Celsius.

        Parameters
        ----------
        threshold : float, default 20
            Temperature in degrees Celsius. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "tropical_nights", (("threshold", threshold),), {"freq": freq, "dim": dim}
        )

    def very_heavy_precipitation_days(self, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with 20 mm or more of precipitation.

        Parameters
        ----------
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "very_heavy_precipitation_days", (), {"freq": freq, "dim": dim})

    def warm_spell_days(
        self, c: Any, days: int = 6, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Number of days in spells of at least `days` days above c, a percentile of each calendar
        day.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        days : int, default 6
            Minimum length of a spell in days.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "warm_spell_days", (("c", c), ("days", days)), {"freq": freq, "dim": dim}
        )

    def wet_day_intensity(
        self, threshold: float = 1, freq: str | None = None, dim: str = "time"
    ) -> Any:
        """Mean precipitation of the days with at least `threshold` mm of precipitation.

        Parameters
        ----------
        threshold : float, default 1
            Precipitation of a day in mm. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "wet_day_intensity",
            (("threshold", threshold),),
            {"freq": freq, "dim": dim},
        )

    def wet_days(self, threshold: float = 1, freq: str | None = None, dim: str = "time") -> Any:
        """Number of days with at least `threshold` mm of precipitation.

        Parameters
        ----------
        threshold : float, default 1
            Precipitation of a day in mm. It is converted to the units of x.
        freq : str or None
            Intervals that have one result each, such as "YS" for years. None: one result for all
            times.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "wet_days", (("threshold", threshold),), {"freq": freq, "dim": dim}
        )

    def ydayadd(self, c: Any, dim: str = "time") -> Any:
        """Each element of x plus the element of c with the same day of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydayadd", (("c", c),), {"dim": dim})

    def ydayavg(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same day of the year, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydayavg", (), {"dim": dim})

    def ydaydiv(self, c: Any, dim: str = "time") -> Any:
        """Each element of x divided by the element of c with the same day of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaydiv", (("c", c),), {"dim": dim})

    def ydaymax(self, dim: str = "time") -> Any:
        """The maximum of the elements of all times with the same day of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaymax", (), {"dim": dim})

    def ydaymean(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same day of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaymean", (), {"dim": dim})

    def ydaymin(self, dim: str = "time") -> Any:
        """The minimum of the elements of all times with the same day of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaymin", (), {"dim": dim})

    def ydaymul(self, c: Any, dim: str = "time") -> Any:
        """Each element of x times the element of c with the same day of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaymul", (("c", c),), {"dim": dim})

    def ydaypctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of all times with the same day of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaypctl", (("q", q),), {"dim": dim})

    def ydayrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements of all times with the same day of the year, as in
        CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydayrange", (), {"dim": dim})

    def ydaystd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same day of the year, as in
        CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaystd", (), {"dim": dim})

    def ydaystd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same day of the year, as in
        CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaystd1", (), {"dim": dim})

    def ydaysub(self, c: Any, dim: str = "time") -> Any:
        """Each element of x minus the element of c with the same day of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaysub", (("c", c),), {"dim": dim})

    def ydaysum(self, dim: str = "time") -> Any:
        """The sum of the elements of all times with the same day of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydaysum", (), {"dim": dim})

    def ydayvar(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same day of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydayvar", (), {"dim": dim})

    def ydayvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same day of the year, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydayvar1", (), {"dim": dim})

    def ydrunavg(self, length: int, dim: str = "time") -> Any:
        """The mean, for each day of the year, of the elements of all years in windows of `length`
        times around this day, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunavg", (("length", length),), {"dim": dim})

    def ydrunmax(self, length: int, dim: str = "time") -> Any:
        """The maximum, for each day of the year, of the elements of all years in windows of
        `length` times around this day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunmax", (("length", length),), {"dim": dim})

    def ydrunmean(self, length: int, dim: str = "time") -> Any:
        """The mean, for each day of the year, of the elements of all years in windows of `length`
        times around this day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunmean", (("length", length),), {"dim": dim})

    def ydrunmin(self, length: int, dim: str = "time") -> Any:
        """The minimum, for each day of the year, of the elements of all years in windows of
        `length` times around this day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunmin", (("length", length),), {"dim": dim})

    def ydrunpctl(self, q: Any, length: int, dim: str = "time") -> Any:
        """Percentiles of the elements in windows of `length` times around each day of the year, in
        all years, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunpctl", (("q", q), ("length", length)), {"dim": dim})

    def ydrunstd(self, length: int, dim: str = "time") -> Any:
        """The standard deviation, for each day of the year, of the elements of all years in windows
        of `length` times around this day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunstd", (("length", length),), {"dim": dim})

    def ydrunstd1(self, length: int, dim: str = "time") -> Any:
        """The standard deviation, for each day of the year, of the elements of all years in windows
        of `length` times around this day, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunstd1", (("length", length),), {"dim": dim})

    def ydrunsum(self, length: int, dim: str = "time") -> Any:
        """The sum, for each day of the year, of the elements of all years in windows of `length`
        times around this day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunsum", (("length", length),), {"dim": dim})

    def ydrunvar(self, length: int, dim: str = "time") -> Any:
        """The variance, for each day of the year, of the elements of all years in windows of
        `length` times around this day, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunvar", (("length", length),), {"dim": dim})

    def ydrunvar1(self, length: int, dim: str = "time") -> Any:
        """The variance, for each day of the year, of the elements of all years in windows of
        `length` times around this day, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        length : int
            Number of times in a window (run*), or in a set of consecutive times (timsel*).
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ydrunvar1", (("length", length),), {"dim": dim})

    def yearadd(self, c: Any, dim: str = "time") -> Any:
        """Each element of x plus the element of c with the same year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearadd", (("c", c),), {"dim": dim})

    def yearavg(self, dim: str = "time") -> Any:
        """The mean of the elements of each year, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearavg", (), {"dim": dim})

    def yearcount(self, dim: str = "time") -> Any:
        """Number of elements in each year that are not missing, as in CDO.

        The number is missing if all elements are missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearcount", (), {"dim": dim})

    def yeardiv(self, c: Any, dim: str = "time") -> Any:
        """Each element of x divided by the element of c with the same year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yeardiv", (("c", c),), {"dim": dim})

    def yearmax(self, dim: str = "time") -> Any:
        """The maximum of the elements of each year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearmax", (), {"dim": dim})

    def yearmean(self, dim: str = "time") -> Any:
        """The mean of the elements of each year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearmean", (), {"dim": dim})

    def yearmin(self, dim: str = "time") -> Any:
        """The minimum of the elements of each year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearmin", (), {"dim": dim})

    def yearmonavg(self, dim: str = "time") -> Any:
        """Yearly means of monthly values, weighted by the lengths of months.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearmonavg", (), {"dim": dim})

    def yearmonmean(self, dim: str = "time") -> Any:
        """Yearly means of monthly values, weighted by the lengths of months.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearmonmean", (), {"dim": dim})

    def yearmul(self, c: Any, dim: str = "time") -> Any:
        """Each element of x times the element of c with the same year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearmul", (("c", c),), {"dim": dim})

    def yearpctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of each year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearpctl", (("q", q),), {"dim": dim})

    def yearrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements in each year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearrange", (), {"dim": dim})

    def yearstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearstd", (), {"dim": dim})

    def yearstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of each year, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearstd1", (), {"dim": dim})

    def yearsub(self, c: Any, dim: str = "time") -> Any:
        """Each element of x minus the element of c with the same year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearsub", (("c", c),), {"dim": dim})

    def yearsum(self, dim: str = "time") -> Any:
        """The sum of the elements of each year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearsum", (), {"dim": dim})

    def yearvar(self, dim: str = "time") -> Any:
        """The variance of the elements of each year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearvar", (), {"dim": dim})

    def yearvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of each year, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yearvar1", (), {"dim": dim})

    def yhouradd(self, c: Any, dim: str = "time") -> Any:
        """Each element of x plus the element of c with the same hour of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhouradd", (("c", c),), {"dim": dim})

    def yhouravg(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same hour of the year, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhouravg", (), {"dim": dim})

    def yhourdiv(self, c: Any, dim: str = "time") -> Any:
        """Each element of x divided by the element of c with the same hour of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourdiv", (("c", c),), {"dim": dim})

    def yhourmax(self, dim: str = "time") -> Any:
        """The maximum of the elements of all times with the same hour of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourmax", (), {"dim": dim})

    def yhourmean(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same hour of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourmean", (), {"dim": dim})

    def yhourmin(self, dim: str = "time") -> Any:
        """The minimum of the elements of all times with the same hour of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourmin", (), {"dim": dim})

    def yhourmul(self, c: Any, dim: str = "time") -> Any:
        """Each element of x times the element of c with the same hour of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourmul", (("c", c),), {"dim": dim})

    def yhourpctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of all times with the same hour of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourpctl", (("q", q),), {"dim": dim})

    def yhourrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements of all times with the same hour of the year, as in
        CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourrange", (), {"dim": dim})

    def yhourstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same hour of the year, as in
        CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourstd", (), {"dim": dim})

    def yhourstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same hour of the year, as in
        CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourstd1", (), {"dim": dim})

    def yhoursub(self, c: Any, dim: str = "time") -> Any:
        """Each element of x minus the element of c with the same hour of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhoursub", (("c", c),), {"dim": dim})

    def yhoursum(self, dim: str = "time") -> Any:
        """The sum of the elements of all times with the same hour of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhoursum", (), {"dim": dim})

    def yhourvar(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same hour of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourvar", (), {"dim": dim})

    def yhourvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same hour of the year, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yhourvar1", (), {"dim": dim})

    def ymonadd(self, c: Any, dim: str = "time") -> Any:
        """Each element of x plus the element of c with the same month of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonadd", (("c", c),), {"dim": dim})

    def ymonavg(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same month of the year, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonavg", (), {"dim": dim})

    def ymondiv(self, c: Any, dim: str = "time") -> Any:
        """Each element of x divided by the element of c with the same month of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymondiv", (("c", c),), {"dim": dim})

    def ymonmax(self, dim: str = "time") -> Any:
        """The maximum of the elements of all times with the same month of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonmax", (), {"dim": dim})

    def ymonmean(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same month of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonmean", (), {"dim": dim})

    def ymonmin(self, dim: str = "time") -> Any:
        """The minimum of the elements of all times with the same month of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonmin", (), {"dim": dim})

    def ymonmul(self, c: Any, dim: str = "time") -> Any:
        """Each element of x times the element of c with the same month of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonmul", (("c", c),), {"dim": dim})

    def ymonpctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of all times with the same month of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonpctl", (("q", q),), {"dim": dim})

    def ymonrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements of all times with the same month of the year, as in
        CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonrange", (), {"dim": dim})

    def ymonstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same month of the year, as
        in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonstd", (), {"dim": dim})

    def ymonstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same month of the year, as
        in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonstd1", (), {"dim": dim})

    def ymonsub(self, c: Any, dim: str = "time") -> Any:
        """Each element of x minus the element of c with the same month of the year, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonsub", (("c", c),), {"dim": dim})

    def ymonsum(self, dim: str = "time") -> Any:
        """The sum of the elements of all times with the same month of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonsum", (), {"dim": dim})

    def ymonvar(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same month of the year, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonvar", (), {"dim": dim})

    def ymonvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same month of the year, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "ymonvar1", (), {"dim": dim})

    def yseasadd(self, c: Any, dim: str = "time") -> Any:
        """Each element of x plus the element of c with the same season, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasadd", (("c", c),), {"dim": dim})

    def yseasavg(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same season, as in CDO.

        Missing values make the result missing.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasavg", (), {"dim": dim})

    def yseasdiv(self, c: Any, dim: str = "time") -> Any:
        """Each element of x divided by the element of c with the same season, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasdiv", (("c", c),), {"dim": dim})

    def yseasmax(self, dim: str = "time") -> Any:
        """The maximum of the elements of all times with the same season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasmax", (), {"dim": dim})

    def yseasmean(self, dim: str = "time") -> Any:
        """The mean of the elements of all times with the same season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasmean", (), {"dim": dim})

    def yseasmin(self, dim: str = "time") -> Any:
        """The minimum of the elements of all times with the same season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasmin", (), {"dim": dim})

    def yseasmul(self, c: Any, dim: str = "time") -> Any:
        """Each element of x times the element of c with the same season, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasmul", (("c", c),), {"dim": dim})

    def yseaspctl(self, q: Any, dim: str = "time") -> Any:
        """The percentile q of the elements of all times with the same season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseaspctl", (("q", q),), {"dim": dim})

    def yseasrange(self, dim: str = "time") -> Any:
        """Maximum minus minimum of the elements of all times with the same season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasrange", (), {"dim": dim})

    def yseasstd(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasstd", (), {"dim": dim})

    def yseasstd1(self, dim: str = "time") -> Any:
        """The standard deviation of the elements of all times with the same season, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasstd1", (), {"dim": dim})

    def yseassub(self, c: Any, dim: str = "time") -> Any:
        """Each element of x minus the element of c with the same season, as in CDO.

        Parameters
        ----------
        c : DataArray or Dataset
            Climatology: an element for each group of times, such as a result of ymonmean or
            ydaypctl. Dimensions are aligned by name.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseassub", (("c", c),), {"dim": dim})

    def yseassum(self, dim: str = "time") -> Any:
        """The sum of the elements of all times with the same season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseassum", (), {"dim": dim})

    def yseasvar(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same season, as in CDO.

        Missing values are skipped.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasvar", (), {"dim": dim})

    def yseasvar1(self, dim: str = "time") -> Any:
        """The variance of the elements of all times with the same season, as in CDO.

        Missing values are skipped. The divisor is n - 1.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "yseasvar1", (), {"dim": dim})

    def zonkurt(self) -> Any:
        """Excess kurtosis (kurtosis minus 3) of the elements of each row of longitudes, all with
        the same weight, as in CDO.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonkurt", (), {})

    def zonmedian(self) -> Any:
        """Median of the elements of each row of longitudes.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonmedian", (), {})

    def zonskew(self) -> Any:
        """Skewness of the elements of each row of longitudes, all with the same weight, as in CDO:
        the mean cube of their deviations from the mean, divided by the cube of the sample standard
        deviation.

        Missing values are skipped.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonskew", (), {})

    def fldavg(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The mean of a field, weighted by area; NaN if an element is missing.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "fldavg", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def fldint(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The integral over a field: the sum of elements times areas.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "fldint", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def fldmax(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The largest element of a field.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldmax", (), {"dim": dim, "keepdims": keepdims})

    def fldmean(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The mean of a field, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "fldmean", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def fldmin(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The smallest element of a field.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldmin", (), {"dim": dim, "keepdims": keepdims})

    def fldpctl(
        self, q: Any, dim: Any = None, keepdims: bool = False, method: str = "inverted_cdf"
    ) -> Any:
        """Percentiles of a field, without weights.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.
        method : str, default "inverted_cdf"
            Method of interpolation between elements, by its name in NumPy or CDO.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "fldpctl",
            (("q", q),),
            {"dim": dim, "keepdims": keepdims, "method": method},
        )

    def fldrange(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The largest element of a field minus the smallest.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldrange", (), {"dim": dim, "keepdims": keepdims})

    def fldstd(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The standard deviation of a field, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "fldstd", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def fldstd1(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The sample standard deviation of a field, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "fldstd1", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def fldsum(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The sum of the elements of a field, without weights.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "fldsum", (), {"dim": dim, "keepdims": keepdims})

    def fldvar(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The variance of a field, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "fldvar", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def fldvar1(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The sample variance of a field, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "fldvar1", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def gridarea(self, edges: str = "great_circles", radius: float = 6371000.0) -> Any:
        """The areas of the cells of a grid, in square metres.

        Parameters
        ----------
        edges : {"great_circles", "latitudes"}, default "great_circles"
            Northern and southern edges of cells: great circles, as in CDO, or circles of latitude,
            which give exact zonal bands.
        radius : float, default 6371000.0
            Radius of the sphere in metres.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "gridarea", (), {"edges": edges, "radius": radius})

    def meravg(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The mean of each meridian, weighted by area; NaN if an element is missing.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "meravg", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def mermax(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The largest element of each meridian.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "mermax", (), {"dim": dim, "keepdims": keepdims})

    def mermean(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The mean of each meridian, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "mermean", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def mermin(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The smallest element of each meridian.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "mermin", (), {"dim": dim, "keepdims": keepdims})

    def merpctl(
        self, q: Any, dim: Any = None, keepdims: bool = False, method: str = "inverted_cdf"
    ) -> Any:
        """Percentiles of each meridian, without weights.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.
        method : str, default "inverted_cdf"
            Method of interpolation between elements, by its name in NumPy or CDO.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "merpctl",
            (("q", q),),
            {"dim": dim, "keepdims": keepdims, "method": method},
        )

    def merrange(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The largest element of each meridian minus the smallest.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "merrange", (), {"dim": dim, "keepdims": keepdims})

    def merstd(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The standard deviation of each meridian, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "merstd", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def merstd1(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The sample standard deviation of each meridian, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "merstd1", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def mersum(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The sum of the elements of each meridian, without weights.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "mersum", (), {"dim": dim, "keepdims": keepdims})

    def mervar(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The variance of each meridian, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "mervar", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def mervar1(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The sample variance of each meridian, weighted by area.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "mervar1", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def setmisstodis(self, neighbours: int = 4) -> Any:
        """Fields whose missing elements are means of the nearest elements, weighted by inverse
        distance.

        Parameters
        ----------
        neighbours : int, default 4
            Number of elements in a mean.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "setmisstodis", (("neighbours", neighbours),), {})

    def setmisstonn(self) -> Any:
        """Fields whose missing elements are replaced by the nearest elements.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "setmisstonn", (), {})

    def vertavg(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The mean of each column, weighted by thickness; NaN if an element is missing.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "vertavg", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def vertmax(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The largest element of each column.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "vertmax", (), {"dim": dim, "keepdims": keepdims})

    def vertmean(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The mean of each column, weighted by thickness.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "vertmean", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def vertmin(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The smallest element of each column.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "vertmin", (), {"dim": dim, "keepdims": keepdims})

    def vertrange(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The largest element of each column minus the smallest.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "vertrange", (), {"dim": dim, "keepdims": keepdims})

    def vertstd(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The standard deviation of each column, weighted by thickness.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "vertstd", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def vertstd1(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The sample standard deviation of each column, weighted by thickness.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "vertstd1", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def vertsum(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The sum of the elements of each column, without weights.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "vertsum", (), {"dim": dim, "keepdims": keepdims})

    def vertvar(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The variance of each column, weighted by thickness.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "vertvar", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def vertvar1(self, weights: Any = AUTO, dim: Any = None, keepdims: bool = False) -> Any:
        """The sample variance of each column, weighted by thickness.

        Parameters
        ----------
        weights : DataArray, None or "auto", default "auto"
            Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights.
            ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner, "vertvar1", (), {"weights": weights, "dim": dim, "keepdims": keepdims}
        )

    def zonavg(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The mean of each circle of latitude; NaN if an element is missing.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonavg", (), {"dim": dim, "keepdims": keepdims})

    def zonmax(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The largest element of each circle of latitude.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonmax", (), {"dim": dim, "keepdims": keepdims})

    def zonmean(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The mean of each circle of latitude.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonmean", (), {"dim": dim, "keepdims": keepdims})

    def zonmin(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The smallest element of each circle of latitude.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonmin", (), {"dim": dim, "keepdims": keepdims})

    def zonpctl(
        self, q: Any, dim: Any = None, keepdims: bool = False, method: str = "inverted_cdf"
    ) -> Any:
        """Percentiles of each circle of latitude, without weights.

        Parameters
        ----------
        q : float or list of float
            Percentile, from 0 to 100, or a list of percentiles.
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.
        method : str, default "inverted_cdf"
            Method of interpolation between elements, by its name in NumPy or CDO.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(
            self._owner,
            "zonpctl",
            (("q", q),),
            {"dim": dim, "keepdims": keepdims, "method": method},
        )

    def zonrange(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The largest element of each circle of latitude minus the smallest.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonrange", (), {"dim": dim, "keepdims": keepdims})

    def zonstd(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The standard deviation of each circle of latitude.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonstd", (), {"dim": dim, "keepdims": keepdims})

    def zonstd1(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The sample standard deviation of each circle of latitude.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonstd1", (), {"dim": dim, "keepdims": keepdims})

    def zonsum(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The sum of the elements of each circle of latitude, without weights.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonsum", (), {"dim": dim, "keepdims": keepdims})

    def zonvar(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The variance of each circle of latitude.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonvar", (), {"dim": dim, "keepdims": keepdims})

    def zonvar1(self, dim: Any = None, keepdims: bool = False) -> Any:
        """The sample variance of each circle of latitude.

        Parameters
        ----------
        dim : str, list of str or None
            Dimensions of the field. None: those of its latitudes, longitudes or levels.
        keepdims : bool, default False
            Whether to keep the reduced axes, with one element.

        Returns
        -------
        DataArray or Dataset
            Lazy.
        """
        return call(self._owner, "zonvar1", (), {"dim": dim, "keepdims": keepdims})
